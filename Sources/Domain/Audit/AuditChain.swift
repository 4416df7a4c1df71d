import Crypto
import Encoding

/// The audit log's hash chain, up to the last entry that was read. It chains new entries, and detects entries that
/// were changed, deleted, inserted, moved or cut off.
package struct AuditChain: Sendable, Equatable {
    /// The number of the last entry; 0 before the first.
    package private(set) var sequence: Int64
    /// The digest of the last entry.
    package private(set) var digest: Digest256
    /// The number of the last entry that a checkpoint covers; 0 if there is none.
    package private(set) var signed: Int64

    /// By default, an empty chain.
    package init(sequence: Int64 = 0, digest: Digest256 = AuditChain.origin, signed: Int64 = 0) {
        self.sequence = sequence
        self.digest = digest
        self.signed = signed
    }
}

package extension AuditChain {
    /// A defect of an audit log, and the entry where it was found.
    enum Defect: Error, Sendable, Equatable, CustomStringConvertible {
        /// The entry with this number is missing, though there are later ones.
        case missing(Int64)
        /// The entry is not the one that was chained under this number, or cannot be parsed.
        case altered(Int64)
        /// The log ends after the first entry, though a checkpoint or the log's head names a later one.
        case truncated(after: Int64, signed: Int64)
        /// The chain is consistent, but its entries between two numbers are not those that were signed.
        case rewritten(after: Int64, through: Int64)
        /// The stored checkpoint for this entry was not signed by the service, or covers another entry.
        case checkpointForged(Int64)
        /// The checkpoint for this entry is missing, though a later one names it.
        case checkpointMissing(Int64)
        /// The checkpoint for this entry is signed by an unknown key.
        case checkpointKeyUnknown(Int64, keyID: String)
        /// The log's head differs from its last entry, which is this one.
        case head(Int64)
        /// The log begins after this entry, without a signed anchor that permits it.
        case anchorForged(Int64)
        /// A checkpoint from elsewhere covers a purged entry; all up to `through` were purged.
        case purged(Int64, through: Int64)
    }

    /// What the first entry chains to: the digest of the label `countersign audit chain`.
    static let origin = Digest256.of("countersign audit chain")

    /// Chains an entry to the last one.
    mutating func append(_ entry: AuditEntry) -> AuditLink {
        sequence += 1
        digest = entry.digest(sequence: sequence, after: digest)
        return AuditLink(sequence: sequence, entry: entry, digest: digest)
    }

    /// Verifies the next entry.
    ///
    /// - Throws: ``AuditChain/Defect`` `missing` or `altered`, with the entry's number; the chain is then unchanged.
    mutating func accept(_ link: AuditLink) throws(Defect) {
        let next = sequence + 1
        guard link.sequence == next else {
            throw link.sequence > next ? .missing(next) : .altered(next)
        }
        guard link.entry.digest(sequence: next, after: digest) == link.digest else { throw .altered(next) }
        sequence = next
        digest = link.digest
    }

    /// Verifies a stored checkpoint against the chain, whose last entry must be the covered one.
    ///
    /// - Parameter filed: the entry's number under which the log stores it.
    /// - Throws: ``AuditChain/Defect``.
    mutating func accept(
        checkpoint token: String, filed: Int64, keys: [String: P256.Signing.PublicKey]
    ) throws(Defect) {
        let checkpoint: AuditCheckpoint
        do throws(AuditCheckpoint.Fault) {
            checkpoint = try AuditCheckpoint(token: token, keys: keys)
        } catch {
            switch error {
            case .forged: throw .checkpointForged(filed)
            case .unknownKey(let keyID): throw .checkpointKeyUnknown(filed, keyID: keyID)
            }
        }
        guard checkpoint.sequence == filed else { throw .checkpointForged(filed) }
        guard checkpoint.previous == signed else { throw .checkpointMissing(checkpoint.previous) }
        try witness(checkpoint)
        signed = checkpoint.sequence
    }

    /// Compares a checkpoint from elsewhere, such as an earlier export, with the chain.
    ///
    /// - Throws: ``AuditChain/Defect`` `truncated` or `rewritten`.
    func witness(_ checkpoint: AuditCheckpoint) throws(Defect) {
        guard checkpoint.sequence == sequence else { throw .truncated(after: sequence, signed: checkpoint.sequence) }
        guard checkpoint.digest == digest else { throw .rewritten(after: signed, through: sequence) }
    }
}

package extension AuditChain.Defect {
    /// One sentence for the person who verifies the log.
    var description: String {
        switch self {
        case .missing(let number): "entry \(number) is missing"
        case .altered(let number): "entry \(number) is not what was chained under this number"
        case .truncated(let last, let signed): "the log ends after entry \(last), but it had entries up to \(signed)"
        case .rewritten(let after, let through):
            "entries \(after + 1) to \(through) are not those that the checkpoint at \(through) covers"
        case .checkpointForged(let number): "the service did not sign the checkpoint at entry \(number)"
        case .checkpointMissing(let number): "the checkpoint at entry \(number) is missing"
        case .checkpointKeyUnknown(let number, let keyID):
            "the checkpoint at entry \(number) is signed by the key \(keyID), which is not among the keys"
        case .head(let number): "the log's head does not agree with its last entry, \(number)"
        case .anchorForged(let number):
            "the log begins after entry \(number), but the service did not sign that everything up to it was purged"
        case .purged(let number, let last):
            "the checkpoint from elsewhere is for entry \(number), but all up to entry \(last) were purged: take a later one"
        }
    }

    /// The number of the entry where the defect was found.
    var sequence: Int64 {
        switch self {
        case .missing(let number), .altered(let number), .checkpointForged(let number), .checkpointMissing(let number),
            .checkpointKeyUnknown(let number, _), .head(let number), .anchorForged(let number), .purged(let number, _):
            number
        case .truncated(let last, _): last + 1
        case .rewritten(let after, _): after + 1
        }
    }
}
