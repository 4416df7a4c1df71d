import Domain
import Encoding

/// A compact JWS (RFC 7515 §7.1) that was parsed but not verified.
///
/// Each text has exactly one meaning: three parts in canonical base64url, header and payload each one JSON object
/// without duplicate members, nothing before or after. Use its claims only to find the key. A verifier turns it into a
/// trusted type.
package struct UnverifiedToken: Sendable {
    package let header: TokenHeader
    /// The payload, a JSON object. Claims that are not read are not parsed (RFC 7519 §4).
    package let payload: JSONOutline
    let signature: [UInt8]
    /// The claimed issuer; `nil` if `iss` is not a provider id. Only for finding the key.
    package let issuer: ProviderID?
    /// The claimed signing key; `nil` if `kid` is not a key id. Only for finding the key.
    package let keyID: ProviderKeyID?
    private let compact: [UInt8]
    private let signingInputLength: Int

    /// Parses the form but not the header's unsupported parameters, which a ``TokenRule`` reports.
    init(reading text: String, upTo maximum: Int = maximumLength) throws(TokenDefect) {
        guard text.utf8.count <= maximum else {
            throw TokenDefect(.malformed, "The token is longer than \(maximum) bytes.")
        }
        compact = Array(text.utf8)
        let dots = Self.dots(in: compact)
        guard dots.count == 2 else {
            throw TokenDefect(
                .malformed,
                dots.count == 4
                    ? "The token has five parts: encrypted tokens (JWE) are not supported. Sign it only."
                    : "The token has \((dots.count + 1).counting("part")): a compact JWS has three, header.payload.signature."
            )
        }
        header = try TokenHeader(Self.object(compact[..<dots[0]], "header"))
        payload = try Self.object(compact[(dots[0] + 1)..<dots[1]], "payload")
        guard let signature = Base64URL.decode(compact[(dots[1] + 1)...]) else {
            throw TokenDefect(.malformed, "The signature is not canonical base64url without padding.")
        }
        self.signature = signature
        signingInputLength = dots[1]
        issuer = payload["iss"]?.text.flatMap { ProviderID($0) }
        keyID = header.keyID.flatMap { ProviderKeyID($0) }
    }
}

package extension UnverifiedToken {
    /// Longer texts are refused unread, in bytes.
    static let maximumLength = 8192
    /// The largest length of identity and ID tokens, to which issuers add claims for others: groups, roles, addresses.
    static let maximumIdentityLength = 32_768

    /// Parses the compact form.
    ///
    /// - Parameters:
    ///   - code: the code of the refusal if another kind of token is expected.
    ///   - maximum: the largest length, in bytes.
    /// - Throws: `Refusal` with reason `malformed` or `unsupported_header`.
    init(
        _ compact: String, refusing code: Refusal.Code = .invalidIdentityToken, upTo maximum: Int = maximumLength
    ) throws(Refusal) {
        do throws(TokenDefect) {
            try self.init(reading: compact, upTo: maximum)
            if let defect = header.unsupportedDefect { throw defect }
        } catch {
            throw error.refusal(code)
        }
    }

    private static func dots(in bytes: [UInt8]) -> [Int] {
        var dots: [Int] = []
        for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: ".") {
            dots.append(index)
            if dots.count > 4 { break }
        }
        return dots
    }

    private static func object(_ part: ArraySlice<UInt8>, _ name: String) throws(TokenDefect) -> JSONOutline {
        guard let bytes = Base64URL.decode(part) else {
            throw TokenDefect(.malformed, "The \(name) is not canonical base64url without padding.")
        }
        do throws(JSONDefect) {
            return try JSONOutline(bytes)
        } catch {
            throw TokenDefect(.malformed, "The \(name) is not a strict JSON object: \(error.path) \(error.problem).")
        }
    }

    /// The claimed issuer as text, a URL for an OpenID provider; `nil` if `iss` is not a text.
    var issuerURL: String? { payload["iss"]?.text }

    /// The claimed audiences; empty if `aud` is neither a text nor a list of texts. Only for finding the provider.
    var audiences: [String] {
        switch payload["aud"] {
        case .string(let text): [text]
        case .array(let values): values.compactMap(\.text)
        default: []
        }
    }

    /// The signed bytes: the first two parts and the dot between them, ASCII.
    var signingInput: ArraySlice<UInt8> { compact[..<signingInputLength] }
}
