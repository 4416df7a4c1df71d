import Domain
import Encoding
import Foundation
import PhoneNumbers

/// A user's proof of presence at a device, signed after a local authentication such as Touch ID (compare user
/// presence in WebAuthn §6.1).
///
/// A compact JWS by the key that the device registered at Certify. The device's hardware uses the key only after a
/// local authentication. `cty` is `layer-presence;v=1`, `alg` the key's. The claims are `nce` (a nonce of this
/// service, which the caller spends), `iat`, `method` and `phone_sha256`, the base64url SHA-256 of the number in
/// E.164 form.
package struct PresenceProof: Sendable, Equatable {
    /// The proof's nonce, neither checked nor spent yet.
    package let nonce: String
    let issuedAt: Date
    /// How the device recognized the person, in the device's term, such as `touch_id`.
    let method: String

    /// Verifies a proof for a number.
    ///
    /// - Parameter key: the device's presence key; if it registered none, every proof is refused.
    /// - Throws: `Refusal` `invalid_presence_proof` with the reasons of identity tokens that apply to it.
    package init(
        _ compact: String, for number: PhoneNumber, key: VerificationKey?, clockSkew: TimeInterval = 60, now: Date
    ) throws(Refusal) {
        func refuse(_ reason: Refusal.Reason, _ detail: String) -> Refusal {
            TokenDefect(reason, detail).refusal(.invalidPresenceProof)
        }
        let profile = TokenProfile.presence
        let token = try UnverifiedToken(compact, refusing: .invalidPresenceProof)
        if let defect = token.header.typeDefect(required: profile.requiresType) {
            throw defect.refusal(.invalidPresenceProof)
        }
        guard let contentType = profile.contentType, token.header.contentType == contentType else {
            throw refuse(.wrongType, "The header's cty is not layer-presence;v=1.")
        }
        guard let key else {
            throw refuse(.unknownKey, "The device registered no presence_key when it was certified.")
        }
        guard token.header.algorithm == key.algorithm.rawValue else {
            throw refuse(
                .algorithmMismatch, "The proof's alg is not \(key.algorithm.rawValue), as the presence key's is.")
        }
        guard key.isValid(signature: token.signature, over: token.signingInput) else {
            throw refuse(.badSignature, "The proof is not signed by the device's presence key.")
        }
        var claims = ClaimReader(token.payload)
        nonce = claims.text("nce", bytes: 1...512)
        method = claims.text("method", bytes: 1...64)
        let digest = claims.text("phone_sha256", bytes: 43...43)
        issuedAt = claims.date("iat", required: true) ?? .distantPast
        if let defect = claims.defects.first { throw defect.refusal(.invalidPresenceProof) }
        guard digest == Digest256.of(number.e164).base64URL else {
            throw refuse(
                .malformed, "phone_sha256 is not the base64url SHA-256 of the number in E.164 form, with its +.")
        }
        let age = now.timeIntervalSince(issuedAt)
        guard age >= -clockSkew else {
            throw refuse(.notYetValid, "iat is \(Int(saturating: -age)) s in the future by this server's clock.")
        }
        guard age <= profile.maximumLifetime + clockSkew else {
            throw refuse(.expired, "The proof was made \(Int(saturating: age)) s ago. Make a new one.")
        }
    }
}
