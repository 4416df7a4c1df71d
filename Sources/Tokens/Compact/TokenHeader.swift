import Domain
import Encoding

/// The JOSE header of a compact JWS (RFC 7515 §4), without unused parameters.
package struct TokenHeader: Sendable, Equatable {
    /// `typ` (RFC 7515 §4.1.9), as ``mediaType(_:)``.
    let type: String?
    /// `cty` (§4.1.10), as ``mediaType(_:)`` and without spaces.
    let contentType: String?
    /// `alg` (§4.1.1), by the name that ``SignatureAlgorithm`` has for it; as written if there is none. It is only compared
    /// with the algorithm of a key.
    package let algorithm: String
    /// `kid` (RFC 7515 §4.1.4), unchanged.
    package let keyID: String?
    /// `jwk` (§4.1.3), which only a proof of its own key may have; not parsed yet.
    let webKey: JSONValue?
    /// `x5c` (§4.1.6), which only credentials and their status lists are verified with; not parsed yet.
    let certificateChain: JSONValue?
    /// The names of parameters that are never accepted, in the header's order.
    let unsupported: [String]

    /// Parameters that change how the token is parsed (RFC 7515 §4.1.11, RFC 7797, RFC 7516 §4.1.3), and a key inside
    /// the token (RFC 8725 §2.9 and §3.10). URLs of keys (`x5u`, `jku`) are ignored like every other parameter, and never
    /// followed. Certificates (`x5c`) are ignored where the key is the registered one.
    private static let neverAccepted = ["crit", "b64", "zip", "jwk"]

    init(_ json: JSONOutline) throws(TokenDefect) {
        guard let algorithm = try Self.text("alg", in: json) else {
            throw TokenDefect(.malformed, "The header has no alg.")
        }
        self.algorithm = SignatureAlgorithm(rawValue: algorithm)?.rawValue ?? algorithm
        type = try Self.text("typ", in: json).map(Self.mediaType)
        let contentType = try Self.text("cty", in: json).map(Self.mediaType)
        self.contentType = contentType?.utf8.contains(0x20) == true ? contentType?.filter { $0 != " " } : contentType
        keyID = try Self.text("kid", in: json)
        webKey = json["jwk"]
        certificateChain = json["x5c"]
        unsupported = json.names.filter(Self.neverAccepted.contains)
    }

    /// A media type in the one form in which types are compared: lower case, without the prefix `application/`, which may be
    /// left out if nothing else has a slash (RFC 7515 §4.1.9).
    static func mediaType(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 != UInt8(ascii: "/") && !(0x41...0x5A).contains($0) }) { return text }
        let bytes = text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        let prefix = Array("application/".utf8)
        let rest = bytes.dropFirst(prefix.count)
        let isPrefixed = bytes.starts(with: prefix) && !rest.contains(UInt8(ascii: "/"))
        return String(decoding: isPrefixed ? rest : bytes[...], as: UTF8.self)
    }

    private static func text(_ name: String, in json: JSONOutline) throws(TokenDefect) -> String? {
        guard let value = json[name] else { return nil }
        guard let text = value.text else { throw TokenDefect(.malformed, "The header's \(name) is not a string.") }
        return text
    }

    /// The defect of a header with parameters that are never accepted.
    var unsupportedDefect: TokenDefect? { unsupportedDefect(except: nil) }

    /// The defect of a header with parameters that are never accepted, except for one that the kind of token needs.
    func unsupportedDefect(except needed: String?) -> TokenDefect? {
        guard let first = unsupported.first(where: { $0 != needed }) else { return nil }
        return TokenDefect(
            .unsupportedHeader, "The header has \(first), which is not supported. Remove it.")
    }

    /// The types of tokens that have none of their own.
    static let usualTypes = ["JWS", "JWT"]

    /// The defect of a `typ` of another kind, or of a missing one that is required.
    ///
    /// - Parameter types: the accepted types, without the prefix `application/`.
    func typeDefect(required: Bool, among types: [String] = TokenHeader.usualTypes) -> TokenDefect? {
        func named() -> String { types.joined(separator: " or ") }
        guard let type else {
            return required ? TokenDefect(.wrongType, "The header has no typ. It must be \(named()).") : nil
        }
        return types.contains { Self.isLowerCase(type, of: $0) }
            ? nil : TokenDefect(.wrongType, "The header's typ is not \(named()).")
    }

    /// Whether a text is another in lower case, without a copy of it.
    private static func isLowerCase(_ text: String, of other: String) -> Bool {
        text.utf8.elementsEqual(other.utf8.lazy.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 })
    }
}
