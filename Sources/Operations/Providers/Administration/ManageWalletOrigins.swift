import Database
import Domain
import Repositories

package extension Administration {
    /// The origins from which the apps of a provider may call wallets.
    ///
    /// - Throws: `Refusal` `not_found`.
    func listOrigins(of name: String) async throws -> [AppOrigin] {
        try await read(.manage) { try Self.origins(of: name, in: $0) }
    }

    /// Registers an origin for the apps of a provider.
    ///
    /// - Parameter app: the only app that gets it; `nil` for all apps that the provider has now.
    /// - Throws: `Refusal` `not_found`; `malformed_request` for a malformed id; `conflict` if the apps have it already.
    func addOrigin(_ origin: WalletOrigin, to name: String, app: TypedID<Kind.Application>?) async throws {
        try await write(.manage) { transaction, events in
            let records = ProviderRepository(transaction)
            let provider = try records.require(name).id
            let apps = try records.listApplications(of: provider).map(\.id)
            let meant = try app?.resolve(among: apps)
            let chosen = apps.filter { meant == nil || $0 == meant }
            guard !chosen.isEmpty else {
                throw app.map { Refusal.nothingBegins(with: $0.text, Kind.Application.names.noun) }
                    ?? Refusal.noApps(ofProvider: name)
            }
            let added = try chosen.filter {
                try WalletOriginRepository(transaction).insert(AppOrigin(applicationID: $0, origin: origin))
            }
            guard !added.isEmpty else { throw Refusal.originRegistered(origin.text) }
            events.record(.providerChanged(provider, detail: "origin \(origin.text) added"), by: actor)
        }
    }

    /// Removes an origin from all apps of a provider. A presentation that it began can still be answered.
    ///
    /// - Throws: `Refusal` `not_found`.
    func removeOrigin(_ origin: WalletOrigin, of name: String) async throws {
        try await write(.manage) { transaction, events in
            let found = try Self.require(origin, of: name, in: transaction)
            for entry in found { _ = try WalletOriginRepository(transaction).remove(entry) }
            let provider = try ProviderRepository(transaction).require(name).id
            events.record(.providerChanged(provider, detail: "origin \(origin.text) removed"), by: actor)
        }
    }

    /// Checks that the origin could be removed. Nothing is changed.
    ///
    /// - Throws: as ``removeOrigin(_:of:)``.
    func previewRemoval(of origin: WalletOrigin, of name: String) async throws {
        _ = try await read(.manage) { try Self.require(origin, of: name, in: $0) }
    }

    private static func origins(of name: String, in transaction: any Transaction) throws -> [AppOrigin] {
        let records = ProviderRepository(transaction)
        return try records.listApplications(of: records.require(name).id).flatMap { app in
            try WalletOriginRepository(transaction).list(of: app.id)
        }
    }

    private static func require(
        _ origin: WalletOrigin, of name: String, in transaction: any Transaction
    ) throws -> [AppOrigin] {
        let found = try origins(of: name, in: transaction).filter { $0.origin == origin }
        guard !found.isEmpty else { throw Refusal.unknownOrigin(origin.text) }
        return found
    }
}
