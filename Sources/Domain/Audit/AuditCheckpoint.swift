import Crypto
import Encoding
import Foundation

/// What the service signs of the audit log: up to this entry the chain has this digest.
///
/// Its signed form is a compact JWS (RFC 7515, ES256 of RFC 7518 §3.4) by the key that `/.well-known/jwks.json` names,
/// header `alg`, `kid`, `typ`, payload `digest`, `iat`, `prev`, `seq`.
package struct AuditCheckpoint: Sendable, Equatable {
    /// The last entry that it covers.
    package let sequence: Int64
    /// That entry's digest.
    package let digest: Digest256
    /// The entry of the checkpoint before it, 0 if it is the first: a checkpoint that was taken out leaves a gap.
    package let previous: Int64
    /// When it was signed, in whole seconds.
    package let at: Date

    /// The header's `typ`: a token of another purpose by the same key is no checkpoint.
    package static let type = "countersign-audit-checkpoint+jwt"

    package init(sequence: Int64, digest: Digest256, previous: Int64, at: Date) {
        self.sequence = sequence
        self.digest = digest
        self.previous = previous
        self.at = at
    }

    /// The signed form.
    ///
    /// - Parameter keyID: the key's JWK thumbprint (RFC 7638).
    /// - Throws: what signing throws.
    package func signed(by key: P256.Signing.PrivateKey, keyID: String) throws -> String {
        let payload =
            "{\"digest\":\"\(digest.base64URL)\",\"iat\":\(at.milliseconds / 1000),\"prev\":\(previous),"
            + "\"seq\":\(sequence)}"
        return try AuditStatement.sign(payload, type: Self.type, by: key, keyID: keyID)
    }

    /// Why a signed form is none.
    package enum Fault: Error, Sendable, Equatable {
        /// It was not signed so, or not at all.
        case forged
        /// It names a key that is not at hand.
        case unknownKey(String)
    }

    /// Reads a signed form.
    ///
    /// - Parameters:
    ///   - token: a compact JWS of at most 2 KiB.
    ///   - keys: the service's public keys, present and past, by thumbprint.
    /// - Throws: ``Fault``.
    package init(token: String, keys: [String: P256.Signing.PublicKey]) throws(Fault) {
        let statement = try AuditStatement.open(token, type: Self.type, keys: keys)
        guard case .integer(let previous) = statement.payload["prev"] else { throw .forged }
        self.init(
            sequence: statement.sequence, digest: statement.digest, previous: previous, at: statement.at)
    }
}
