import Crypto
import Encoding
import Foundation

/// A signed statement about the audit log: up to this entry the chain has this digest.
///
/// Its signed form is a compact JWS (RFC 7515, ES256 of RFC 7518 §3.4) by the service key in
/// `/.well-known/jwks.json`. The header is `alg`, `kid`, `typ`, the payload `digest`, `iat`, `prev`, `seq`.
package struct AuditCheckpoint: Sendable, Equatable {
    /// The last entry that it covers.
    package let sequence: Int64
    let digest: Digest256
    /// The entry of the previous checkpoint, 0 for the first. A deleted checkpoint thus leaves a gap.
    package let previous: Int64
    /// When it was signed, in whole seconds.
    package let at: Date

    /// The header's `typ`. No token of another purpose that this key signed is accepted.
    static let type = "countersign-audit-checkpoint+jwt"

    package init(sequence: Int64, digest: Digest256, previous: Int64, at: Date) {
        self.sequence = sequence
        self.digest = digest
        self.previous = previous
        self.at = at
    }
}

package extension AuditCheckpoint {
    /// - Parameter keyID: the key's JWK thumbprint (RFC 7638).
    /// - Returns: a compact JWS.
    /// - Throws: what signing throws.
    func signed(by key: P256.Signing.PrivateKey, keyID: String) throws -> String {
        let payload =
            "{\"digest\":\"\(digest.base64URL)\",\"iat\":\(at.milliseconds / 1000),\"prev\":\(previous),"
            + "\"seq\":\(sequence)}"
        return try AuditStatement.sign(payload, type: Self.type, by: key, keyID: keyID)
    }

    /// Why a signed form is not accepted.
    enum Fault: Error, Sendable, Equatable {
        /// The signature or the content is wrong.
        case forged
        /// It names an unknown key.
        case unknownKey(String)
    }

    /// Verifies and parses a signed form.
    ///
    /// - Parameters:
    ///   - token: a compact JWS of at most 2 KiB.
    ///   - keys: the service's current and past public keys, by thumbprint.
    /// - Throws: ``Fault``.
    init(token: String, keys: [String: P256.Signing.PublicKey]) throws(Fault) {
        let statement = try AuditStatement.open(token, type: Self.type, keys: keys)
        guard case .integer(let previous) = statement.payload["prev"] else { throw .forged }
        self.init(
            sequence: statement.sequence, digest: statement.digest, previous: previous, at: statement.at)
    }
}
