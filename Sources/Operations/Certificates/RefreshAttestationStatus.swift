import Authority
import Database
import Delivery
import Domain
import Foundation
import Repositories

/// Fetches Google's list of revoked attestation certificates every hour, on one node at a time.
package struct RefreshAttestationStatus: Sendable {
    private let context: Service
    private let fetch: @Sendable () async -> AttestationListReader.Reading

    /// Seconds between two checks of a node whether the list is due.
    private static let interval: TimeInterval = 20
}

package extension RefreshAttestationStatus {
    /// - Parameter fetch: fetches the list.
    init(_ context: Service, fetch: @escaping @Sendable () async -> AttestationListReader.Reading) {
        self.context = context
        self.fetch = fetch
    }

    /// Fetches the list if it is due, and if an app of Android is registered.
    ///
    /// - Returns: why it could not be fetched; `nil` if it was fetched or is not due.
    /// - Throws: `Refusal` `unavailable`.
    @discardableResult
    func callAsFunction() async throws -> String? {
        let isUsed = try await context.read { transaction in
            try AttestationRepository(transaction).hasAndroidApp()
        }
        guard isUsed, try await context.write({ transaction, _ in try AttestationRepository(transaction).claimFetch() })
        else { return nil }
        let failure: String
        switch await fetch() {
        case .read(let document) where AttestationStatusList(document) != nil:
            try await context.write { transaction, _ in try AttestationRepository(transaction).storeList(document) }
            return nil
        case .read: failure = "it is not a list of entries with a status each"
        case .failed(let reason): failure = reason
        }
        try await context.write { transaction, _ in try AttestationRepository(transaction).failFetch(failure) }
        return failure
    }

    /// Fetches the list until the task is cancelled.
    ///
    /// - Parameters:
    ///   - onChange: called with the reason if the list can no longer be fetched, and with `nil` if it can again.
    ///   - onFailure: called if the store is unavailable.
    func run(onChange: @Sendable (String?) -> Void, onFailure: @Sendable (any Error) -> Void) async {
        var isAway = false
        while !Task.isCancelled {
            do {
                let reason = try await self()
                let failure =
                    try await reason == nil
                    ? context.read { try AttestationRepository($0).fetchFailure() } : reason
                if (failure != nil) != isAway {
                    isAway = failure != nil
                    onChange(failure)
                }
            } catch {
                onFailure(error)
            }
            try? await Task.sleep(for: .seconds(Self.interval))
        }
    }
}

extension Service {
    /// Refuses a chain with a certificate on Google's list, and any chain while the list is unknown. A policy can admit
    /// chains while it is unknown, but never a certificate on the last known list.
    ///
    /// - Throws: `AttestationDefect`; `Refusal` `unavailable` if the list is missing or too old, which never means that a
    ///   device is not attested.
    func requireUnlisted(_ attestation: DeviceAttestation) async throws {
        guard case .androidKey(_, _, _, let serials) = attestation else { return }
        let rules = policy[\.certification].attestation
        let cache = caches.attestationStatus
        let times = try await read { try AttestationRepository($0).listTimes() }
        let isKnown = times.map { environment.now().timeIntervalSince($0.readAt) <= rules.statusAge } ?? false
        guard isKnown || rules.statusUnknown == .admit else { throw Refusal.attestationStatusUnknown }
        guard let times else { return }
        let list: AttestationStatusList
        if let known = cache.list(of: times.changedAt) {
            list = known
        } else {
            let document = try await read { try AttestationRepository($0).list() }
            guard let read = AttestationStatusList(document) else { throw Refusal.attestationStatusUnknown }
            cache.remember(read, of: times.changedAt)
            list = read
        }
        if list.contains(serials) { throw AttestationDefect.listed }
    }
}
