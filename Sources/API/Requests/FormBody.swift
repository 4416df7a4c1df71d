import Domain
import Foundation
import Hummingbird
import Operations

/// The parameters of a form body (RFC 6749 appendix B). Unknown ones are ignored, and none may be there twice (§3.2).
struct FormBody {
    private var values: [String: String] = [:]

    /// - Throws: `Refusal` `malformed_request`.
    init(_ bytes: [UInt8]) throws(Refusal) {
        guard let text = String(bytes: bytes, encoding: .utf8) else {
            throw Refusal(.malformedRequest, "The form is not UTF-8.")
        }
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decode(parts.first ?? ""), let value = Self.decode(parts.dropFirst().first ?? "")
            else { throw Refusal(.malformedRequest, "The form's percent-encoding cannot be read.") }
            guard values.updateValue(value, forKey: name) == nil else {
                throw Refusal(.malformedRequest, "\(name.prefix(64)) is in the form twice.")
            }
        }
    }

    /// A parameter; one without a value counts as left out (RFC 6749 §3.2).
    subscript(name: String) -> String? {
        values[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// A parameter that must be there.
    func required(_ name: String) throws(Refusal) -> String {
        guard let value = self[name] else { throw Refusal(.malformedRequest, "\(name) is missing in the form.") }
        return value
    }

    /// What a client shows of itself.
    var assertion: ShownAssertion {
        ShownAssertion(
            assertion: self["client_assertion"], type: self["client_assertion_type"], clientID: self["client_id"])
    }

    private static func decode(_ text: Substring) -> String? {
        text.replacing("+", with: " ").removingPercentEncoding
    }
}

extension Request {
    /// The parameters of a form body.
    func form(upTo maximum: Int) async throws -> FormBody {
        try requireMediaType(FormBody.mediaType)
        return try FormBody(try await bytes(upTo: maximum))
    }
}

extension FormBody {
    static let mediaType = "application/x-www-form-urlencoded"
}
