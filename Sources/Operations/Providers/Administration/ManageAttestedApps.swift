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
        try await changeAttestedApps(of: app, "attestations of \(added.shown) accepted") { records, application in
            guard try records.add(added, for: application) else { throw Refusal.attestedAppRegistered(added.shown) }
        }
    }

    /// Removes an app. Certificates that were issued for its devices stay valid.
    ///
    /// - Throws: `Refusal` `not_found`.
    func removeAttestedApp(_ removed: AttestedApp, of app: ApplicationID) async throws {
        try await changeAttestedApps(of: app, "attestations of \(removed.shown) refused") { records, application in
            guard try records.remove(removed, of: application) else { throw Refusal.unknownAttestedApp(removed.shown) }
        }
    }

    /// Checks that an app could be removed. Nothing is changed.
    ///
    /// - Throws: as `removeAttestedApp(_:of:)`.
    func previewRemoval(of removed: AttestedApp, of app: ApplicationID) async throws {
        guard try await listAttestedApps(of: app).contains(removed) else {
            throw Refusal.unknownAttestedApp(removed.shown)
        }
    }

    /// Changes the apps of platforms that are registered for a provider's app.
    ///
    /// - Parameter detail: what the audit log says, without the provider's app.
    private func changeAttestedApps(
        of app: ApplicationID, _ detail: String,
        _ change: @Sendable @escaping (AttestationRepository, ApplicationID) throws -> Void
    ) async throws {
        try await write(.manage) { transaction, events in
            let application = try Self.application(app, in: transaction)
            try change(AttestationRepository(transaction), application.id)
            events.record(
                .providerChanged(application.providerID, detail: "\(detail) for app \(application.id)"), by: actor)
        }
    }

    private static func application(_ id: ApplicationID, in transaction: any Transaction) throws -> Application {
        guard let application = try ProviderRepository(transaction).findApplication(id) else {
            throw Refusal.nothingBegins(with: id.description, Kind.Application.names.noun)
        }
        return application
    }
}
