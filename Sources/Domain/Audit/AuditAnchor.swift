import Crypto
import Encoding
import Foundation

/// The start of the audit log after its oldest entries were purged. The service signs that the chain was intact up to
/// this entry, and that the entries were deleted by policy. A log that lacks its beginning without an anchor was
/// tampered with.
///
/// Its signed form is that of ``AuditCheckpoint`` with another `typ`, payload `digest`, `iat`, `seq`.
package struct AuditAnchor: Sendable, Equatable {
    /// The number of the last purged entry.
    package let sequence: Int64
    /// The digest of that entry, which the next entry chains to.
    let digest: Digest256
    /// When it was signed, in whole seconds.
    package let at: Date

    /// The header's `typ`. It differs from a checkpoint's, which permits no purge.
    static let type = "countersign-audit-anchor+jwt"

    package init(sequence: Int64, digest: Digest256, at: Date) {
        self.sequence = sequence
        self.digest = digest
        self.at = at
    }
}

package extension AuditAnchor {
    /// - Parameter keyID: the key's JWK thumbprint (RFC 7638).
    /// - Returns: a compact JWS.
    /// - Throws: what signing throws.
    func signed(by key: P256.Signing.PrivateKey, keyID: String) throws -> String {
        try AuditStatement.sign(
            "{\"digest\":\"\(digest.base64URL)\",\"iat\":\(at.milliseconds / 1000),\"seq\":\(sequence)}",
            type: Self.type, by: key, keyID: keyID)
    }

    /// Verifies and parses a signed form.
    ///
    /// - Parameter keys: the service's current and past public keys, by thumbprint.
    /// - Throws: ``AuditCheckpoint/Fault``.
    init(token: String, keys: [String: P256.Signing.PublicKey]) throws(AuditCheckpoint.Fault) {
        let statement = try AuditStatement.open(token, type: Self.type, keys: keys)
        guard statement.sequence > 0 else { throw .forged }
        self.init(sequence: statement.sequence, digest: statement.digest, at: statement.at)
    }

    /// Compares it with a checkpoint from elsewhere. One for a later entry must be compared with the chain.
    ///
    /// - Throws: ``AuditChain/Defect`` `purged` for an earlier entry, which can no longer be verified, or `rewritten`.
    func admit(_ checkpoint: AuditCheckpoint) throws(AuditChain.Defect) {
        guard checkpoint.sequence >= sequence else { throw .purged(checkpoint.sequence, through: sequence) }
        if checkpoint.sequence == sequence { try chain.witness(checkpoint) }
    }

    /// The chain for verifying the entries after it.
    var chain: AuditChain { AuditChain(sequence: sequence, digest: digest, signed: sequence) }
}
