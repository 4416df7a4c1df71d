import Domain
import Encoding

/// A compact JWS (RFC 7515 §7.1) that was read and not yet believed.
///
/// One text, one meaning: exactly three parts in canonical base64url, header and payload each one JSON object without
/// duplicate members, nothing before or after. What it says helps to find the key and is otherwise not to be used;
/// a verifier makes the trusted type of it.
package struct UnverifiedToken: Sendable {
    /// Longer texts are refused unread, in bytes.
    package static let maximumLength = 8192

    /// The header.
    package let header: TokenHeader
    /// The payload, a JSON object.
    package let payload: JSONValue
    /// The signature's bytes.
    package let signature: [UInt8]
    /// Who the token says made it; `nil` if `iss` is no provider id. Good for finding the key, no more.
    package let issuer: ProviderID?
    /// The key that the token says it was signed with; `nil` if `kid` is no key id.
    package let keyID: ProviderKeyID?
    private let compact: [UInt8]
    private let signingInputLength: Int

    /// Reads the compact form.
    ///
    /// - Parameter code: what the refusal is called if the token is not an identity token.
    /// - Throws: `Refusal` with reason `malformed` or `unsupported_header`.
    package init(_ compact: String, refusing code: Refusal.Code = .invalidIdentityToken) throws(Refusal) {
        do throws(TokenDefect) {
            try self.init(reading: compact)
            if let defect = header.unsupportedDefect { throw defect }
        } catch {
            throw error.refusal(code)
        }
    }

    /// Reads the form, and leaves the header's unsupported parameters to the ``TokenRule`` that names them.
    init(reading text: String) throws(TokenDefect) {
        guard text.utf8.count <= Self.maximumLength else {
            throw TokenDefect(.malformed, "The token is longer than \(Self.maximumLength) bytes.")
        }
        compact = Array(text.utf8)
        let dots = Self.dots(in: compact)
        guard dots.count == 2 else {
            throw TokenDefect(
                .malformed,
                dots.count == 4
                    ? "The token has five parts: encrypted tokens (JWE) are not supported, sign it only."
                    : "The token has \(dots.count + 1) parts: a compact JWS has three, header.payload.signature.")
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

    private static func dots(in bytes: [UInt8]) -> [Int] {
        var dots: [Int] = []
        for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: ".") {
            dots.append(index)
            if dots.count > 4 { break }
        }
        return dots
    }

    private static func object(_ part: ArraySlice<UInt8>, _ name: String) throws(TokenDefect) -> JSONValue {
        guard let bytes = Base64URL.decode(part) else {
            throw TokenDefect(.malformed, "The \(name) is not canonical base64url without padding.")
        }
        let value: JSONValue
        do throws(JSONDefect) {
            value = try StrictJSON.parse(bytes)
        } catch {
            throw TokenDefect(.malformed, "The \(name) is not strict JSON: \(error.path) \(error.problem).")
        }
        guard case .object = value else { throw TokenDefect(.malformed, "The \(name) is not a JSON object.") }
        return value
    }

    /// What the signature is over: the first two parts and the dot between them, ASCII.
    package var signingInput: ArraySlice<UInt8> { compact[..<signingInputLength] }
}
