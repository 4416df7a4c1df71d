import Domain
import Encoding
import Foundation
import Hummingbird
import Operations

/// The parameters of a form body (RFC 6749 appendix B). Unknown ones are ignored. None may be repeated (§3.2) except
/// those that name targets (RFC 8693 §2.1, RFC 8707 §2).
struct FormBody {
    private var values: [String: [String]] = [:]

    private static let repeatable: Set = ["audience", "resource"]

    /// Parses a form.
    ///
    /// - Throws: `Refusal` `malformed_request`.
    init(_ bytes: [UInt8]) throws(Refusal) {
        var count = 0
        for pair in bytes.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decode(parts.first ?? []), let value = Self.decode(parts.dropFirst().first ?? [])
            else { throw Refusal.formNotDecodable }
            guard name.isStreamSafe, value.isStreamSafe else {
                throw Refusal.formWithLongRun
            }
            guard count < Self.maximumCount else {
                throw Refusal.formTooLong(allowed: Self.maximumCount)
            }
            count += 1
            guard values[name] == nil || Self.repeatable.contains(name) else {
                throw Refusal.formRepeats
            }
            values[name, default: []].append(value)
        }
    }

    /// A form with more parameters is refused.
    private static let maximumCount = 64

    /// The value of a parameter; `nil` if the parameter is missing or empty (RFC 6749 §3.2).
    subscript(name: String) -> String? {
        all(name).first
    }

    /// The values of a parameter in order, without empty ones.
    private func all(_ name: String) -> [String] { values[name]?.filter { !$0.isEmpty } ?? [] }

    /// The requested targets of a token: every `audience`, then every `resource`.
    var targets: [String] { all("audience") + all("resource") }

    func required(_ name: String) throws(Refusal) -> String {
        guard let value = self[name] else { throw Refusal.parameterMissing(name) }
        return value
    }

    /// The client's authentication in the form.
    var assertion: Service.ShownAssertion {
        Service.ShownAssertion(
            assertion: self["client_assertion"], type: self["client_assertion_type"], clientID: self["client_id"])
    }

    /// Decodes percent-encoded UTF-8; `nil` for any other text.
    private static func decode(_ bytes: ArraySlice<UInt8>) -> String? {
        guard bytes.contains(where: { $0 == percent || $0 == plus }) else {
            return String(validating: bytes, as: UTF8.self)
        }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var rest = bytes.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case plus: decoded.append(UInt8(ascii: " "))
            case percent:
                guard let high = rest.next().flatMap(digit), let low = rest.next().flatMap(digit) else {
                    return nil
                }
                decoded.append(high << 4 | low)
            default: decoded.append(byte)
            }
        }
        return String(validating: decoded, as: UTF8.self)
    }

    private static let percent = UInt8(ascii: "%")
    private static let plus = UInt8(ascii: "+")

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension Request {
    func form(upTo maximum: Int) async throws -> FormBody {
        try requireMediaType(FormBody.mediaType)
        return try FormBody(try await bytes(upTo: maximum))
    }
}

extension FormBody {
    static let mediaType = "application/x-www-form-urlencoded"
}
