import Database
import Domain
import Encoding
import Foundation
import Repositories
import Synchronization

/// A certificate in this process's memory. Connections keep a reference to it, so a request reads it without a lookup.
/// A change replaces its content.
final class CachedCertificate: Sendable {
    /// The stored data: the certificate, and the bans of its device.
    struct Judged: Sendable {
        let certificate: DeviceCertificate
        let entries: [BanEntry]

        /// Reads the certificates and bans of devices, in few statements.
        static func read(_ devices: [DeviceID], in transaction: any Transaction) throws -> [Judged] {
            let bans = try BanRepository(transaction).entries(onDevices: devices)
            return try CertificateRepository(transaction).list(deviceIDs: devices).map {
                Judged(certificate: $0, entries: bans[$0.deviceID] ?? [])
            }
        }
    }

    private struct Value {
        var judged: Judged
        /// The number of the reading that it comes from. Later readings have higher numbers.
        var look: UInt64
        /// Results of readings with lower numbers are not valid.
        var doubtedBefore: UInt64 = 0
        /// Whether the store no longer has it, as after the loss of recent commits.
        var isLost = false
        var lastVerifiedAt = Date.distantPast

        var isInDoubt: Bool { look < doubtedBefore }
    }

    private let value: Mutex<Value>
    /// Identity tokens that were shown with it.
    let identityTokens = RecentAttempts("identity tokens with this certificate")
    /// Session tokens that were exchanged with it.
    let exchanges = RecentAttempts("token exchanges with this certificate")

    /// Readings of streams with it.
    let streamReads = RecentAttempts("reads of streams with this certificate")

    init(_ judged: Judged, look: UInt64) {
        value = Mutex(Value(judged: judged, look: look))
    }

    /// The certificate as it is known now.
    var certificate: DeviceCertificate {
        value.withLock { $0.judged.certificate }
    }

    /// When it was last verified.
    var lastVerifiedAt: Date {
        value.withLock { $0.lastVerifiedAt }
    }

    /// Whether it must be read again before it is valid.
    var isInDoubt: Bool { value.withLock { $0.isInDoubt } }

    /// Invalidates the results of earlier readings.
    func doubt(before look: UInt64) {
        value.withLock { $0.doubtedBefore = max($0.doubtedBefore, look) }
    }

    /// Replaces the content by the result of a reading; `nil` if the store no longer has it. If a later reading was
    /// faster, nothing changes: an earlier one may not have seen a ban yet.
    func replace(with judged: Judged?, look: UInt64) {
        value.withLock { value in
            guard look > value.look else { return }
            if let judged { value.judged = judged }
            value.isLost = judged == nil
            value.look = look
        }
    }

    /// Refuses a certificate that is not valid at `now`, or whose validity is unknown.
    func requireValid(at now: Date) throws(Refusal) {
        let value = value.withLock { value in
            value.lastVerifiedAt = now
            return value
        }
        guard !value.isInDoubt else {
            throw Refusal.certificateInDoubt
        }
        guard !value.isLost else { throw Refusal.certificateUnknown }
        let judged = value.judged
        try judged.certificate.requireValid(at: now)
        if !judged.entries.isEmpty, let entry = BanEntry.activeBan(among: judged.entries, for: .all, at: now) {
            throw Refusal.deviceBanned(by: entry)
        }
    }
}

/// The certificates that were used with this process, by thumbprint.
package final class CertificateCache: Sendable {
    private let table = InvalidatingCache<Digest256, CachedCertificate>()
    private let looks = Atomic<UInt64>(0)
    /// Certificates to read again even if no request uses them.
    private let doubted = Mutex<[CachedCertificate]>([])
    private let store: any Database

    /// The number of certificates that the background reads at once.
    static let batch = 500

    /// - Parameter store: the store from which certificates are read.
    init(store: any Database) {
        self.store = store
    }

    /// The certificate with a thumbprint, if it is cached.
    func known(_ thumbprint: Digest256) -> CachedCertificate? { table.known(thumbprint) }

    /// The certificate with a thumbprint; `nil` if the issuance table does not have it.
    func find(_ thumbprint: Digest256) async throws -> CachedCertificate? {
        if let known = table.known(thumbprint) {
            if known.isInDoubt { try await settle([known]) }
            return known
        }
        // All connections must share the object that changes reach.
        for _ in 0..<16 {
            let found = try await table.find(thumbprint) {
                let look = beginLook()
                return try await store.snapshot { transaction in
                    try CertificateRepository(transaction).find(thumbprint: thumbprint).map { certificate in
                        let bans = try BanRepository(transaction).entries(on: [.device(certificate.deviceID)])
                        return CachedCertificate(.init(certificate: certificate, entries: bans), look: look)
                    }
                }
            }
            guard let found else { return nil }
            if table.known(thumbprint) === found { return found }
        }
        throw Refusal.tooManyChanges
    }

    /// Invalidates all cached certificates. Those without a connection are dropped. The others are read again before
    /// they are valid: at their next use, or by ``settleSome()``.
    func doubtAll() {
        // A value that was read before is not cached from now on.
        table.invalidateLoads()
        let look = beginLook()
        doubted.withLock { $0 = [] }
        table.dropUnheld { _ in true }
        let held = table.all
        for certificate in held { certificate.doubt(before: look) }
        doubted.withLock { $0 = held }
    }

    /// Reads some invalidated certificates again.
    ///
    /// - Returns: their devices; empty if no certificate was invalidated.
    func settleSome() async throws -> Set<DeviceID> {
        let some = doubted.withLock { doubted in
            let some = Array(doubted.suffix(Self.batch))
            doubted.removeLast(some.count)
            return some
        }
        do {
            try await settle(some, isReserved: true)
        } catch {
            doubted.withLock { $0 += some }
            throw error
        }
        return Set(some.map(\.certificate.deviceID))
    }

    /// Reads those of some certificates again that were invalidated. Without any it reads nothing.
    func settle(_ certificates: [CachedCertificate], isReserved: Bool = false) async throws {
        let some = certificates.filter(\.isInDoubt)
        guard !some.isEmpty else { return }
        let (present, look) = try await look(at: Set(some.map(\.certificate.deviceID)), isReserved: isReserved)
        let found = Dictionary(present.map { ($0.certificate.thumbprint, $0) }) { first, _ in first }
        for certificate in some {
            let thumbprint = certificate.certificate.thumbprint
            certificate.replace(with: found[thumbprint], look: look)
            if found[thumbprint] == nil { table.drop(thumbprint) }
        }
    }

    /// Reads the certificates and bans of devices again, into the objects that connections share.
    func refresh(_ devices: Set<DeviceID>) async throws {
        // A certificate that is being read for the first time may be from before the change.
        table.invalidateLoads()
        let (present, look) = try await look(at: devices, isReserved: true)
        for judged in present { table.known(judged.certificate.thumbprint)?.replace(with: judged, look: look) }
    }

    private func look(
        at devices: Set<DeviceID>, isReserved: Bool
    ) async throws -> (present: [CachedCertificate.Judged], look: UInt64) {
        let look = beginLook()
        let read: @Sendable (any Transaction) throws -> [CachedCertificate.Judged] = {
            try CachedCertificate.Judged.read(Array(devices), in: $0)
        }
        return (isReserved ? try await store.reservedSnapshot(read) : try await store.snapshot(read), look)
    }

    /// Returns the number for a reading, before it begins. Every later change causes another reading.
    private func beginLook() -> UInt64 {
        looks.add(1, ordering: .sequentiallyConsistent).newValue
    }

    /// Drops certificates that no connection uses and that were not verified for a while. The next handshake reads them
    /// again. Those in use must stay where changes reach them.
    func dropIdle(since moment: Date) {
        table.dropUnheld { $0.lastVerifiedAt < moment }
    }

    /// The number of cached certificates.
    var count: Int { table.count }
}
