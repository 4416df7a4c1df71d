import Domain
import Encoding

/// The JOSE header of a compact JWS (RFC 7515 §4), without unused parameters.
package struct TokenHeader: Sendable, Equatable {
    /// `typ` (§4.1.9).
    package let type: String?
    /// `cty` (§4.1.10), spaces removed.
    package let contentType: String?
    /// `alg` (§4.1.1) as written. It is only compared with the algorithm of a key.
    package let algorithm: String
    /// `kid` (§4.1.4).
    package let keyID: String?
    /// `jwk` (§4.1.3), which only a proof of its own key may have; not parsed yet.
    let webKey: JSONValue?
    /// The parameters in it that are never accepted, in the header's order.
    let unsupported: [String]

    /// Parameters that change how the token is parsed (RFC 7515 §4.1.11, RFC 7797, RFC 7516 §4.1.3), and keys inside
    /// the token (RFC 8725 §2.9 and §3.10).
    private static let neverAccepted = ["crit", "b64", "zip", "jwk", "jku", "x5u", "x5c"]

    init(_ json: JSONValue) throws(TokenDefect) {
        guard case .object(let members) = json else {
            throw TokenDefect(.malformed, "The header is not a JSON object.")
        }
        guard let algorithm = try Self.text("alg", in: json) else {
            throw TokenDefect(.malformed, "The header has no alg.")
        }
        self.algorithm = algorithm
        type = try Self.text("typ", in: json)
        let contentType = try Self.text("cty", in: json)
        self.contentType = contentType?.utf8.contains(0x20) == true ? contentType?.filter { $0 != " " } : contentType
        keyID = try Self.text("kid", in: json)
        webKey = json["jwk"]
        unsupported = members.lazy.map(\.name).filter(Self.neverAccepted.contains)
    }

    private static func text(_ name: String, in json: JSONValue) throws(TokenDefect) -> String? {
        guard let value = json[name] else { return nil }
        guard let text = value.text else { throw TokenDefect(.malformed, "The header's \(name) is not a string.") }
        return text
    }

    /// The defect of a header with parameters that are never accepted.
    var unsupportedDefect: TokenDefect? { unsupportedDefect(except: nil) }

    /// The same for a kind of token that needs one of them.
    func unsupportedDefect(except needed: String?) -> TokenDefect? {
        guard let first = unsupported.first(where: { $0 != needed }) else { return nil }
        return TokenDefect(
            .unsupportedHeader, "The header carries \(first), which is not supported here: leave it out.")
    }

    /// The defect of a `typ` of another kind, or of a missing one that is required.
    func typeDefect(required: Bool, among types: [String] = ["JWS", "JWT"]) -> TokenDefect? {
        let named = types.joined(separator: " or ")
        guard let type else {
            return required ? TokenDefect(.wrongType, "The header has no typ: write \(named).") : nil
        }
        return types.contains(type) ? nil : TokenDefect(.wrongType, "The header's typ is not \(named).")
    }
}
