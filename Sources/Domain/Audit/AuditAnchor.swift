import Crypto
import Encoding
import Foundation

/// Where the audit log begins since its oldest entries were purged: the service signs that they held up to this entry, and
/// that they are gone by its policy. Without it a log that lacks its beginning was tampered with.
///
/// Its signed form is that of ``AuditCheckpoint`` with another `typ`, payload `digest`, `iat`, `seq`.
package struct AuditAnchor: Sendable, Equatable {
    /// The last entry that was purged.
    package let sequence: Int64
    /// That entry's digest, which the next one follows.
    package let digest: Digest256
    /// When it was signed, in whole seconds.
    package let at: Date

    /// The header's `typ`: a checkpoint is no leave to purge.
    package static let type = "countersign-audit-anchor+jwt"

    package init(sequence: Int64, digest: Digest256, at: Date) {
        self.sequence = sequence
        self.digest = digest
        self.at = at
    }

    /// The signed form.
    ///
    /// - Parameter keyID: the key's JWK thumbprint (RFC 7638).
    /// - Throws: what signing throws.
    package func signed(by key: P256.Signing.PrivateKey, keyID: String) throws -> String {
        try AuditStatement.sign(
            "{\"digest\":\"\(digest.base64URL)\",\"iat\":\(at.milliseconds / 1000),\"seq\":\(sequence)}",
            type: Self.type, by: key, keyID: keyID)
    }

    /// Reads a signed form.
    ///
    /// - Parameter keys: the service's public keys, present and past, by thumbprint.
    /// - Throws: ``AuditCheckpoint/Fault``.
    package init(token: String, keys: [String: P256.Signing.PublicKey]) throws(AuditCheckpoint.Fault) {
        let statement = try AuditStatement.open(token, type: Self.type, keys: keys)
        guard statement.sequence > 0 else { throw .forged }
        self.init(sequence: statement.sequence, digest: statement.digest, at: statement.at)
    }

    /// Holds a checkpoint that came from elsewhere against it; one for a later entry is held against the chain.
    ///
    /// - Throws: ``AuditDefect`` `purged` for an earlier entry, of which nothing is left to verify by, or `rewritten`.
    package func admit(_ checkpoint: AuditCheckpoint) throws(AuditDefect) {
        guard checkpoint.sequence >= sequence else { throw .purged(checkpoint.sequence, through: sequence) }
        if checkpoint.sequence == sequence { try chain.witness(checkpoint) }
    }

    /// The chain that goes on behind it.
    package var chain: AuditChain { AuditChain(sequence: sequence, digest: digest, signed: sequence) }
}
