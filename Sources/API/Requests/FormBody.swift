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
        let fields: [(name: String, value: String)]
        do throws(FormFields.Defect) {
            fields = try FormFields.parse(bytes, most: Self.maximumCount)
        } catch {
            switch error {
            case .encoding: throw Refusal.formNotDecodable
            case .marks: throw Refusal.formWithLongRun
            case .count: throw Refusal.formTooLong(allowed: Self.maximumCount)
            }
        }
        for (name, value) in fields {
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
