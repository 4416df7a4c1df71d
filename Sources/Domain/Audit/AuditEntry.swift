import Crypto
import Encoding
import Foundation

/// One act in the audit log. It contains ids and codes, no personal data.
package struct AuditEntry: Sendable, Equatable {
    /// The entry's id, a UUID in lower case.
    package let id: String
    /// When, in milliseconds since 1970. Not a `Date`, because the digest needs all 64 bits exactly.
    package let milliseconds: Int64
    /// What was done, such as `certificate_revoked`.
    package let event: String
    /// The object of the act, such as `device <id>`.
    package let subject: String
    /// The actor: `device <id>`, `user <id>`, `provider <id>`, `admin <operating system user>` or `service`.
    package let actor: String
    /// More ids, if the subject alone is not enough.
    package let detail: String?
    package let reason: String?

    package init(
        id: String, milliseconds: Int64, event: String, subject: String, actor: String, detail: String?,
        reason: String?
    ) {
        self.id = id
        self.milliseconds = milliseconds
        self.event = event
        self.subject = subject
        self.actor = actor
        self.detail = detail
        self.reason = reason
    }

    /// The entry's digest in the chain: SHA-256 (FIPS 180-4) over the label `countersign audit entry`, the digest of
    /// the previous entry, and its fields. The fields are number, id, time, event, subject, actor, detail and reason. A
    /// field is a byte 0 if it is absent. Else it is a byte 1, its length in four bytes, big-endian, and its UTF-8
    /// form. Numbers are written in decimal.
    ///
    /// - Parameters:
    ///   - sequence: the entry's number in the chain, from 1 on.
    ///   - previous: the digest of the entry before it, ``AuditChain/origin`` for the first.
    func digest(sequence: Int64, after previous: Digest256) -> Digest256 {
        var bytes = Array("countersign audit entry".utf8)
        bytes.reserveCapacity(256)
        bytes += previous.bytes
        for field in [String(sequence), id, String(milliseconds), event, subject, actor, detail, reason] {
            guard let field else {
                bytes.append(0)
                continue
            }
            bytes.append(1)
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: field.utf8.count).bigEndian) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: field.utf8)
        }
        return Digest256.of(bytes)
    }
}

/// An entry with its place in the chain.
package struct AuditLink: Sendable, Equatable {
    /// Its number; the first is 1, and there are no gaps.
    package let sequence: Int64
    package let entry: AuditEntry
    /// The result of ``AuditEntry/digest(sequence:after:)`` when it was chained.
    package let digest: Digest256

    package init(sequence: Int64, entry: AuditEntry, digest: Digest256) {
        self.sequence = sequence
        self.entry = entry
        self.digest = digest
    }
}
