import Domain
import Encoding

/// A Layer certificate signing request with a valid signature: a compact JWS signed by the key that it contains.
///
/// It has a public key, the proof that its sender has the private key, a wished device id and a user agent.
/// Everything else in it is ignored.
package struct LayerCSR: Sendable, Equatable {
    /// The software that made the request (`uat`), at most 512 bytes; `nil` if absent.
    package let userAgent: String?
    /// The device id that the client prefers (`prn`), not checked. If it is not a UUID or is taken, the service chooses
    /// another.
    package let wishedDeviceID: String?
    package let publicKey: PublicKey

    private static let contentType = "layer-csr;v=1"

    /// Parses and verifies a request.
    ///
    /// - Throws: `Refusal` `invalid_csr` with reason `malformed`, `weak_key`, `unsupported_key`, or `bad_proof` if
    ///   the signature does not verify with the contained key.
    package init(_ compact: String) throws(Refusal) {
        let token = try UnverifiedToken(compact, refusing: .invalidCSR)
        let key = try Self.key(of: token)
        guard key.isValid(signature: token.signature, over: token.signingInput) else {
            throw Refusal.csrSignatureInvalid
        }
        var claims = ClaimReader(token.payload)
        userAgent = claims.optionalText("uat", bytes: 0...512, for: .prose)
        if let defect = claims.defects.first { throw defect.refusal(.invalidCSR) }
        wishedDeviceID = token.payload["prn"]?.text
        publicKey = key.publicKey
    }

    /// Parses the contained key, with the algorithm that the header names for it.
    private static func key(of token: UnverifiedToken) throws(Refusal) -> VerificationKey {
        if let defect = token.header.typeDefect(required: true) { throw defect.refusal(.invalidCSR) }
        guard token.header.contentType?.utf8.elementsEqual(contentType.utf8) ?? false else {
            throw Refusal.csrContentType(expected: contentType)
        }
        let algorithm: SignatureAlgorithm
        switch (token.header.algorithm, token.payload["pka"]?.text) {
        case ("RS256", "RSA"): algorithm = .rs256
        case ("ES256", "EC"): algorithm = .es256
        case ("RS256", _), ("ES256", _): throw Refusal.csrKeyTypeMismatch
        default: throw Refusal.csrAlgorithmUnknown
        }
        guard let encoded = token.payload["pky"]?.text, let bytes = Base64URL.decodeEitherAlphabet(encoded.utf8) else {
            throw Refusal.csrKeyUnreadable
        }
        do throws(PublicKeyDefect) {
            return try VerificationKey(PublicKey(subjectPublicKeyInfo: bytes), algorithm: algorithm)
        } catch {
            throw error.refusal(.invalidCSR)
        }
    }
}
