import Database
import Domain
import Encoding
import Foundation
import Repositories
import Synchronization

/// A certificate in this process's memory. Connections entry on to it, so that judging a request is a look at it and no
/// look-up; a change replaces what it says.
package final class CachedCertificate: Sendable {
    /// What the store says: the certificate, and the bans of its device.
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
        /// The look at the store that it comes from: a later look has a greater number.
        var look: UInt64
        /// What an earlier look found counts no more.
        var doubtedBefore: UInt64 = 0
        /// Whether the store has it no more: what issued it was lost.
        var isLost = false
        var lastVerifiedAt = Date.distantPast

        var isInDoubt: Bool { look < doubtedBefore }
    }

    private let value: Mutex<Value>
    /// The sessions that were created under it.
    let identityTokens = RecentAttempts("identity tokens with this certificate")
    /// The session tokens that were exchanged under it.
    let exchanges = RecentAttempts("token exchanges with this certificate")

    /// The readings of streams under it.
    let streamReads = RecentAttempts("reads of streams with this certificate")

    init(_ judged: Judged, look: UInt64) {
        value = Mutex(Value(judged: judged, look: look))
    }

    /// What is known at this moment.
    var certificate: DeviceCertificate {
        value.withLock { $0.judged.certificate }
    }

    /// When it was judged last.
    var lastVerifiedAt: Date {
        value.withLock { $0.lastVerifiedAt }
    }

    /// Whether the store must be asked before it counts again.
    var isInDoubt: Bool { value.withLock { $0.isInDoubt } }

    /// What earlier looks found counts no more.
    func doubt(before look: UInt64) {
        value.withLock { $0.doubtedBefore = max($0.doubtedBefore, look) }
    }

    /// Takes what a look at the store found, unless it already has what a later one found: looks may overtake each
    /// other, and the earlier one may have seen no ban yet.
    ///
    /// - Parameter judged: `nil` where the store has it no more.
    func replace(with judged: Judged?, look: UInt64) {
        value.withLock { value in
            guard look > value.look else { return }
            if let judged { value.judged = judged }
            value.isLost = judged == nil
            value.look = look
        }
    }

    /// Refuses a certificate that does not count at a moment, or of which that is not known.
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

/// The certificates that this process has been shown, by thumbprint.
package final class CertificateCache: Sendable {
    private let table = InvalidatingCache<Digest256, CachedCertificate>()
    private let looks = Atomic<UInt64>(0)
    /// What is to be read anew although nobody may ask for it.
    private let doubted = Mutex<[CachedCertificate]>([])
    private let store: any Database

    /// How many are read anew at once, while nobody asks for them.
    static let batch = 500

    /// Remembers what a store holds.
    package init(store: any Database) {
        self.store = store
    }

    /// The certificate with a thumbprint, if it is remembered.
    func known(_ thumbprint: Digest256) -> CachedCertificate? { table.known(thumbprint) }

    /// The certificate with a thumbprint; `nil` where the issuance table has none.
    func find(_ thumbprint: Digest256) async throws -> CachedCertificate? {
        if let known = table.known(thumbprint) {
            if known.isInDoubt { try await settle([known]) }
            return known
        }
        // Whoever holds one must hold the one that changes reach.
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

    /// Nothing that is remembered is known to hold. What no connection holds is forgotten. The rest is read anew before
    /// it counts: at its next use, or by ``settleSome()``.
    func doubtAll() {
        // None is remembered from now on that was read before.
        table.invalidateLoads()
        let look = beginLook()
        doubted.withLock { $0 = [] }
        table.dropUnheld { _ in true }
        let held = table.all
        for certificate in held { certificate.doubt(before: look) }
        doubted.withLock { $0 = held }
    }

    /// Reads some of what is in doubt anew.
    ///
    /// - Returns: their devices; none where nothing is in doubt.
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

    /// Reads anew what is in doubt of some certificates, so that each is as the store has it. Nothing is asked where
    /// none is.
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

    /// Reads the certificates and bans of devices anew into what connections hold.
    func refresh(_ devices: Set<DeviceID>) async throws {
        // One that is being read for the first time may be from before the change.
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

    /// Numbers a look before it begins. Whatever changes after that is followed by a look of its own.
    private func beginLook() -> UInt64 {
        looks.add(1, ordering: .sequentiallyConsistent).newValue
    }

    /// Forgets certificates that no connection holds and that were not judged for a while; the next handshake reads them
    /// again. What a connection holds must stay where changes reach it.
    func dropIdle(since moment: Date) {
        table.dropUnheld { $0.lastVerifiedAt < moment }
    }

    /// How many this process remembers.
    package var count: Int { table.count }
}
