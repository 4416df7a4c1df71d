import Domain
import Encoding
import Foundation

/// A device's proof that it holds its certified key, made for one request for a token (RFC 9449 §4).
///
/// A compact JWS with `typ` `dpop+jwt`, an algorithm of the key, and the public key itself as `jwk`. The claims are `jti`,
/// `htm`, `htu` and `iat`.
package struct DPoPProof: Sendable, Equatable {
    /// The thumbprint of the key (RFC 7638), base64url: `jkt` of the token.
    let thumbprint: String

    /// The largest difference between `iat` and this server's clock, seconds.
    static let clockSkew: TimeInterval = 60

    /// Verifies a proof.
    ///
    /// - Parameters:
    ///   - keyHash: SHA-256 of the certified key's SubjectPublicKeyInfo.
    ///   - url: the endpoint as seen from outside, without a query.
    /// - Throws: `Refusal` `invalid_dpop_proof` with a reason.
    package init(
        _ compact: String, keyHash: Digest256, method: String, url: String, now: Date
    ) throws(Refusal) {
        do throws(TokenDefect) {
            let token = try UnverifiedToken(reading: compact)
            let key = try Self.key(of: token.header)
            guard key.publicKey.thumbprint == keyHash.bytes else {
                throw TokenDefect(.unknownKey, "The header's jwk is not the key of the device's certificate.")
            }
            guard key.isValid(signature: token.signature, over: token.signingInput) else {
                throw TokenDefect(.badSignature, "The proof is not signed by the key in its header.")
            }
            try Self.check(token.payload, method: method, url: url, now: now)
            thumbprint = key.publicKey.numbers.webKeyThumbprint
        } catch {
            throw error.refusal(.invalidDPoPProof)
        }
    }

    private static func key(of header: TokenHeader) throws(TokenDefect) -> VerificationKey {
        if let defect = header.unsupportedDefect(except: "jwk") { throw defect }
        if let defect = header.typeDefect(required: true, among: ["dpop+jwt"]) { throw defect }
        guard let webKey = header.webKey else { throw TokenDefect(.malformed, "The header has no jwk.") }
        let publicKey: PublicKey
        let named: SignatureAlgorithm?
        do throws(PublicKeyDefect) {
            publicKey = try PublicKey(JSONWebKey.numbers(of: webKey))
            named = try JSONWebKey.algorithm(of: webKey)
        } catch {
            throw TokenDefect(Refusal.Reason(error.reason), error.detail)
        }
        guard let algorithm = publicKey.algorithms.first(where: { $0.rawValue == header.algorithm }),
            named == nil || named == algorithm, let key = try? VerificationKey(publicKey, algorithm: algorithm)
        else { throw TokenDefect(.algorithmMismatch, "The header's alg is not one of the key in jwk.") }
        return key
    }

    private static func check(
        _ payload: JSONOutline, method: String, url: String, now: Date
    ) throws(TokenDefect) {
        var claims = ClaimReader(payload)
        _ = claims.text("jti", bytes: 1...128)
        let namedMethod = claims.text("htm", bytes: 1...16)
        let namedURL = claims.text("htu", bytes: 1...2048)
        _ = claims.issued(now: now, clockSkew: clockSkew, maximumAge: 0)
        if let defect = claims.defects.first { throw defect }
        guard namedMethod == method else { throw TokenDefect(.wrongAudience, "The claim htm is not \(method).") }
        guard let target = normalized(namedURL), target == normalized(url) else {
            throw TokenDefect(.wrongAudience, "The claim htu is not \(url).")
        }
    }

    /// A URL without query and fragment, in the one form of its scheme, host, port and path (RFC 9449 §4.3, RFC 3986 §6.2.2
    /// and §6.2.3).
    private static func normalized(_ url: String) -> String? {
        let bare = url.prefix { $0 != "?" && $0 != "#" }
        let scheme = bare.prefix { $0 != ":" }
        return WebAddress(scheme.lowercased() + bare[scheme.endIndex...]).map { address in
            "\(address.isSecure ? "https" : "http")://\(address.host)\(WebAddress.normalizedPath(address.path))"
        }
    }
}
