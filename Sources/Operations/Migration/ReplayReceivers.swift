import Database
import Domain
import Foundation
import Repositories

/// Removes webhooks, streams of security events, URLs of backends, and origins and attested apps that were removed since a
/// copy of the store was made. They may belong to others by now.
struct ReplayReceivers: Sendable {
    private let webhooks: [ProviderID: String]
    private let streams: [EventStreamID: EventStream]
    private let resources: [ProviderResource]
    private let origins: Set<AppOrigin>
    private let attestedApps: [ApplicationID: [AttestedApp]]

    /// Reads the receivers of the replaced store.
    init(of transaction: any Transaction) throws {
        webhooks = try ProviderWebhookRepository(transaction).all()
        let all = try EventStreamRepository(transaction).all()
        streams = Dictionary(all.map { ($0.id, $0) }) { first, _ in first }
        resources = try ProviderResourceRepository(transaction).all()
        origins = Set(try WalletOriginRepository(transaction).all())
        attestedApps = try Dictionary(
            uniqueKeysWithValues: Self.applications(transaction).map {
                ($0.id, try AttestationRepository(transaction).apps(of: $0.id))
            })
    }

    /// A receiver that was removed again.
    struct Removal: Sendable {
        let provider: ProviderID
        /// What was removed, in words.
        let what: String
    }

    /// Removes receivers that the replaced store no longer has, or has with other values. Receivers that were added
    /// since are lost.
    func callAsFunction(in transaction: any Transaction) throws -> [Removal] {
        try removeWebhooks(transaction) + removeStreams(transaction) + removeResources(transaction)
            + removeOrigins(transaction) + removeAttestedApps(transaction)
    }

    private func removeWebhooks(_ transaction: any Transaction) throws -> [Removal] {
        let records = ProviderWebhookRepository(transaction)
        let gone = try records.all().filter { webhooks[$0.key] != $0.value }
        return try gone.sorted { $0.key.description < $1.key.description }.map { provider, url in
            if let present = webhooks[provider] {
                try records.set(present, of: provider)
            } else {
                try records.remove(provider)
            }
            return Removal(provider: provider, what: "webhook \(url)")
        }
    }

    private func removeStreams(_ transaction: any Transaction) throws -> [Removal] {
        let records = EventStreamRepository(transaction)
        return try records.all().compactMap { stream in
            guard let present = streams[stream.id] else {
                try StreamQueueRepository(transaction, of: stream.id).clear()
                try EventSubjectRepository(transaction).clear(stream.id)
                try records.remove(stream.id)
                return Removal(provider: stream.provider, what: "event stream \(stream.id)")
            }
            let isOther = present.settings.delivery != stream.settings.delivery
            guard isOther || (present.status == .disabled && stream.status != .disabled),
                try records.disable(stream.id, because: "changed before a restore")
            else { return nil }
            return Removal(provider: stream.provider, what: "event stream \(stream.id), disabled")
        }
    }

    private func removeOrigins(_ transaction: any Transaction) throws -> [Removal] {
        let records = WalletOriginRepository(transaction)
        return try Self.applications(transaction).flatMap { app in
            try records.list(of: app.id).filter { !origins.contains($0) }.map { entry in
                _ = try records.remove(entry)
                return Removal(provider: app.providerID, what: "origin \(entry.origin.text)")
            }
        }
    }

    private func removeAttestedApps(_ transaction: any Transaction) throws -> [Removal] {
        let records = AttestationRepository(transaction)
        return try Self.applications(transaction).flatMap { app in
            let present = attestedApps[app.id] ?? []
            return try records.apps(of: app.id).filter { !present.contains($0) }.map { entry in
                _ = try records.remove(entry, of: app.id)
                return Removal(provider: app.providerID, what: "attested app \(entry.shown)")
            }
        }
    }

    private static func applications(_ transaction: any Transaction) throws -> [Application] {
        let providers = ProviderRepository(transaction)
        return try providers.list().flatMap { try providers.listApplications(of: $0.id) }
    }

    private func removeResources(_ transaction: any Transaction) throws -> [Removal] {
        let records = ProviderResourceRepository(transaction)
        return try records.all().filter { !resources.contains($0) }.map { resource in
            try records.remove(resource.url)
            return Removal(provider: resource.providerID, what: "resource \(resource.url.text)")
        }
    }
}
