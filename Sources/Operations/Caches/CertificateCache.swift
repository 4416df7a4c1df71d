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

        init(_ certificate: DeviceCertificate, in transaction: any Transaction) throws {
            self.certificate = certificate
            entries = try BanRepository(transaction).entries(on: [.device(certificate.deviceID)])
        }
    }

    private struct Value {
        var judged: Judged
        /// The look at the store that it comes from: a later look has a greater number.
        var look: UInt64
        var lastVerifiedAt = Date.distantPast
    }

    private let value: Mutex<Value>
    /// The sessions that were created under it.
    let identityTokens = RecentAttempts("Too many identity tokens were shown under this certificate")
    /// The session tokens that were exchanged under it.
    let exchanges = RecentAttempts("Too many tokens were exchanged under this certificate")

    /// The readings of streams under it.
    let streamReads = RecentAttempts("Streams were read too often under this certificate")

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

    /// Takes what a look at the store found, unless it already has what a later one found: looks may overtake each
    /// other, and the earlier one may have seen no ban yet.
    func replace(with judged: Judged, look: UInt64) {
        value.withLock { value in
            guard look > value.look else { return }
            value.judged = judged
            value.look = look
        }
    }

    /// Refuses a certificate that does not count at a moment.
    func requireValid(at now: Date) throws(Refusal) {
        let judged = value.withLock { value in
            value.lastVerifiedAt = now
            return value.judged
        }
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
    private let store: any Database

    /// Remembers what a store holds.
    package init(store: any Database) {
        self.store = store
    }

    /// The certificate with a thumbprint, if it is remembered.
    func known(_ thumbprint: Digest256) -> CachedCertificate? { table.known(thumbprint) }

    /// The certificate with a thumbprint; `nil` where the issuance table has none.
    func find(_ thumbprint: Digest256) async throws -> CachedCertificate? {
        if let known = table.known(thumbprint) { return known }
        // Whoever holds one must hold the one that changes reach.
        for _ in 0..<16 {
            let found = try await table.find(thumbprint) {
                let look = beginLook()
                return try await store.snapshot { transaction in
                    try CertificateRepository(transaction).find(thumbprint: thumbprint).map {
                        CachedCertificate(try CachedCertificate.Judged($0, in: transaction), look: look)
                    }
                }
            }
            guard let found else { return nil }
            if table.known(thumbprint) === found { return found }
        }
        throw Refusal(
            .unavailable, "Too much is changing at this moment; nothing was changed. Try again.", retryAfter: 1)
    }

    /// Reads all certificates anew.
    ///
    /// - Returns: their devices.
    func refreshAll() async throws -> Set<DeviceID> {
        // One that is remembered behind the list below would be left out: so none is from now on that was read before.
        table.invalidateLoads()
        let devices = Set(table.all.map(\.certificate.deviceID))
        try await refresh(devices)
        return devices
    }

    /// Reads the certificates and bans of devices anew into what connections entry.
    func refresh(_ devices: Set<DeviceID>) async throws {
        // One that is being read for the first time may be from before the change.
        table.invalidateLoads()
        let look = beginLook()
        let present = try await store.reservedSnapshot { transaction in
            try devices.flatMap { try CertificateRepository(transaction).list(deviceID: $0) }.map {
                try CachedCertificate.Judged($0, in: transaction)
            }
        }
        for judged in present { table.known(judged.certificate.thumbprint)?.replace(with: judged, look: look) }
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
