import Encoding
import Foundation

/// The content of a message: parts, each with a media type.
package struct MessageBody: Sendable, Equatable, Confidential {
    static let maximumParts = 16
    /// The largest content of all parts, bytes, however it is written in a request.
    static let maximumBytes = 65_536
    private static let maximumTypeLength = 127

    struct Part: Sendable, Equatable, Confidential {
        /// The media type (RFC 6838 §4.2), without parameters, in lower case.
        let type: String
        let content: Content

        enum Content: Sendable, Equatable {
            case text(String)
            case bytes([UInt8])
        }
    }

    let parts: [Part]

    /// Parses `[{"type", "body" or "body_base64"}]`.
    ///
    /// - Throws: ``Refusal`` `malformed_request`, `payload_too_large`.
    package init(_ value: JSONValue) throws(Refusal) {
        guard case .array(let values) = value, (1...Self.maximumParts).contains(values.count) else {
            throw Refusal.wrongNumberOfParts(allowed: Self.maximumParts)
        }
        var parts: [Part] = []
        for (index, value) in values.enumerated() { parts.append(try Self.part(value, number: index + 1)) }
        self.parts = parts
        guard size <= Self.maximumBytes else {
            throw Refusal.partsTooLarge(allowed: Self.maximumBytes)
        }
    }

    private static func part(_ value: JSONValue, number: Int) throws(Refusal) -> Part {
        guard case .object(let members) = value, members.count == 2, let type = value["type"]?.text, isType(type)
        else {
            throw Refusal.malformedPart(number)
        }
        if let text = value["body"]?.text { return Part(type: type.lowercased(), content: .text(text)) }
        if let bytes = value["body_base64"]?.text.flatMap(Base64URL.decode) {
            return Part(type: type.lowercased(), content: .bytes(bytes))
        }
        throw Refusal.unreadablePartContent(number)
    }

    /// Whether a text is `type/subtype` of restricted names.
    private static func isType(_ text: String) -> Bool {
        let names = text.split(separator: "/", omittingEmptySubsequences: false)
        return text.utf8.count <= maximumTypeLength && names.count == 2
            && names.allSatisfy { name in
                !name.isEmpty
                    && name.utf8.allSatisfy { byte in
                        switch byte {
                        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                        default: "!#$&-^_.+".utf8.contains(byte)
                        }
                    }
            }
    }

    /// Bytes of all contents, without their types.
    var size: Int {
        parts.reduce(0) { size, part in
            switch part.content {
            case .text(let text): size + text.utf8.count
            case .bytes(let bytes): size + bytes.count
            }
        }
    }
}

package extension MessageBody {
    /// The largest request in JSON, bytes. An escape such as `\u0041` takes six bytes for one, in types too. The
    /// rest is for ids and names.
    static let largestJSON = 6 * (maximumBytes + maximumParts * maximumTypeLength) + 4096
    /// The largest request in a binary form without escapes, bytes.
    static let largestBinary = maximumBytes + 8192

    /// The form in requests, responses and the store: equal bodies have equal texts.
    var json: JSONValue {
        .array(
            parts.map { part in
                switch part.content {
                case .text(let text): .object(["type": .string(part.type), "body": .string(text)])
                case .bytes(let bytes):
                    .object(["type": .string(part.type), "body_base64": .string(Base64URL.encode(bytes))])
                }
            })
    }
}
