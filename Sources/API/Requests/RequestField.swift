import HTTPTypes

/// A field of requests that the service reads, with the longest value that is parsed. No request field is read in
/// another way.
///
/// Over HTTP/2 a field of several KiB can be repeated in a few bytes (RFC 7541 §6.1). Parsing it may cost far more than
/// receiving it, so what no real client sends is not parsed.
struct RequestField: Sendable {
    let name: HTTPField.Name
    /// The bytes of all values together, with what separates them. Longer ones are like no field.
    let longest: Int

    private init(_ name: HTTPField.Name, upTo longest: Int) {
        (self.name, self.longest) = (name, longest)
    }
}

extension RequestField {
    static let accept = RequestField(.accept, upTo: 1024)
    static let acceptLanguage = RequestField(.acceptLanguage, upTo: 512)
    static let contentLength = RequestField(.contentLength, upTo: 32)
    static let contentType = RequestField(.contentType, upTo: 256)
    static let expect = RequestField(.expect, upTo: 64)
    static let ifNoneMatch = RequestField(.ifNoneMatch, upTo: 1024)
    static let traceParent = RequestField(.known("traceparent"), upTo: 512)
    /// A longer one is refused, not ignored.
    static let authorization = RequestField(.authorization, upTo: .max)
    /// A longer proof is refused, not ignored.
    static let dpop = RequestField(.known("DPoP"), upTo: .max)
    /// A longer proof is refused, not ignored.
    static let countersignProof = RequestField(.countersignProof, upTo: .max)

    /// The fields whose longer values are like none.
    static let bounded = [accept, acceptLanguage, contentLength, contentType, expect, ifNoneMatch, traceParent]
}

extension HTTPFields {
    /// The value of a request's field; `nil` if it is missing or too long to be parsed.
    func text(of field: RequestField) -> String? {
        guard let text = self[field.name], text.utf8.count <= field.longest else { return nil }
        return text
    }

    /// The values of a field that a request may have once.
    func values(of field: RequestField) -> [String] { self[values: field.name] }

    /// The items of a list, separated by commas, without spaces around them.
    func items(of field: RequestField) -> [Substring.UTF8View] {
        let text = text(of: field) ?? ""
        return text.utf8.split(separator: UInt8(ascii: ",")).map { item in
            let start = item.drop(while: Self.isSpace)
            guard let last = start.lastIndex(where: { !Self.isSpace($0) }) else { return "".utf8[...] }
            return start[...last]
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Whether `Accept` names a media type, whatever its weight.
    func accept(_ type: String) -> Bool {
        items(of: .accept).contains { item in
            let named = item.prefix { $0 != UInt8(ascii: ";") && !Self.isSpace($0) }
            return Substring(named).lowercased().utf8.elementsEqual(type.utf8)
        }
    }

    /// The length that a request declares for its body; the largest number if it cannot be read.
    var declaredLength: Int? {
        guard contains(.contentLength) else { return nil }
        return text(of: .contentLength).flatMap { Int($0) } ?? .max
    }

    /// Whether the client waits for permission to send its body (RFC 9110 §10.1.1).
    var waitsForPermission: Bool { text(of: .expect)?.lowercased().utf8.elementsEqual("100-continue".utf8) ?? false }
}

extension HTTPField.Name {
    static let countersignProof = known("Countersign-Proof")
}
