import Database
import Domain
import Foundation
import Operations
import Repositories

/// The settings of a command, resolved once, and its actor for the audit log.
struct Installation: Sendable {
    let settings: Settings
    let actor: String

    init(_ options: SharedOptions) throws(CommandFailure) {
        settings = try Settings.resolve(shared: options)
        actor = try OperatorName.text(actor: options.actor)
    }

    /// The policies on disk. The running service uses them too, after it has read them.
    ///
    /// - Throws: ``CommandFailure`` if a policy is wrong.
    func policy() throws -> Policy {
        try PolicyFiles.load(directory: settings.policies, required: settings.policiesNamed)
    }

    /// Opens the store, runs the body, and closes the store.
    ///
    /// - Parameter mayCreate: whether the command may create a missing store and migrate an old one. Other commands
    ///   refuse both: a wrong address is then noticed, and an upgrade stays the operator's decision.
    func admin<Result>(
        mayCreate: Bool = false, _ body: (Admin) async throws -> Result
    ) async throws -> Result {
        let store = try mayCreate ? settings.store.open(clock: { Date() }) : settings.store.openPresent()
        var admin = Admin(
            installation: self, store: store, environment: Environment(cell: settings.cell))
        do {
            if mayCreate {
                try await store.migrate(Schema.migrations)
                try await store.claim(settings.cell, at: settings.store)
            } else {
                try await store.requirePresent(at: settings.store, in: settings.cell)
            }
            (admin.nodes, admin.written) = try await store.read {
                (try ClusterMemberRepository($0).live(), try KeyFingerprintRepository($0).list())
            }
            let result = try await body(admin)
            try await store.close()
            return result
        } catch {
            try? await store.close()
            if let refusal = error as? Refusal, refusal.code == .unavailable {
                throw CommandFailure(refusal.detail, exitCode: .storeUnavailable)
            }
            throw error
        }
    }
}
