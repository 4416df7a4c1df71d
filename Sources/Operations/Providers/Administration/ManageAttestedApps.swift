import Database
import Domain
import Repositories

package extension Administration {
    /// The apps of platforms that are registered for a provider's app.
    ///
    /// - Throws: `Refusal` `not_found`.
    func listAttestedApps(of app: ApplicationID) async throws -> [AttestedApp] {
        try await read(.manage) { transaction in
            try AttestationRepository(transaction).apps(of: try Self.application(app, in: transaction).id)
        }
    }

    /// Registers an app, whose devices can be certified as attested from then on.
    ///
    /// - Throws: `Refusal` `not_found`; `conflict` if it is registered already.
    func addAttestedApp(_ added: AttestedApp, to app: ApplicationID) async throws {
        try await write(.manage) { transaction, events in
            let application = try Self.application(app, in: transaction)
            guard try AttestationRepository(transaction).add(added, for: application.id) else {
                throw Refusal.attestedAppRegistered(added.text)
            }
            events.record(
                .providerChanged(
                    application.providerID, detail: "attestations of \(added.text) accepted for app \(application.id)"),
                by: actor)
        }
    }

    /// Removes an app. Certificates that were issued for its devices stay valid.
    ///
    /// - Throws: `Refusal` `not_found`.
    func removeAttestedApp(_ removed: AttestedApp, of app: ApplicationID) async throws {
        try await write(.manage) { transaction, events in
            let application = try Self.application(app, in: transaction)
            guard try AttestationRepository(transaction).remove(removed, of: application.id) else {
                throw Refusal.unknownAttestedApp(removed.text)
            }
            events.record(
                .providerChanged(
                    application.providerID, detail: "attestations of \(removed.text) refused for app \(application.id)"),
                by: actor)
        }
    }

    /// Checks that an app could be removed. Nothing is changed.
    ///
    /// - Throws: as `removeAttestedApp(_:of:)`.
    func previewRemoval(of removed: AttestedApp, of app: ApplicationID) async throws {
        guard try await listAttestedApps(of: app).contains(removed) else {
            throw Refusal.unknownAttestedApp(removed.text)
        }
    }

    private static func application(_ id: ApplicationID, in transaction: any Transaction) throws -> Application {
        let providers = ProviderRepository(transaction)
        let all = try providers.list().flatMap { try providers.listApplications(of: $0.id) }
        guard let application = all.first(where: { $0.id == id }) else {
            throw Refusal.nothingBegins(with: id.description, Kind.Application.names.noun)
        }
        return application
    }
}
