import Database
import Domain
import Foundation
import Operations
import Repositories

/// The settings of a command, resolved once, and its actor for the audit log.
struct Installation: Sendable {
    let settings: Settings
    let operatorName: OperatorName

    var actor: String { operatorName.text() }

    init(_ options: SharedOptions) throws(CommandFailure) {
        settings = try Settings.resolve(shared: options)
        operatorName = try OperatorName(actor: options.actor)
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
                let isNew = try await store.prepare(for: settings.cell, at: settings.store)
                if isNew { Output.note("A new store was created at \(settings.store.place).") }
            } else {
                try await store.requirePresent(at: settings.store, in: settings.cell)
            }
            (admin.nodes, admin.written) = try await store.read {
                (try ClusterMemberRepository($0).live(), try KeyFingerprintRepository($0).list())
            }
            admin.administrator = try await administrator(in: store)
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
    /// Checks the role of this account's administrator, for a command on a whole store. A store that this build cannot
    /// use, or that was moved, has no roles to check.
    ///
    /// - Throws: `Refusal` `insufficient_scope`.
    func require(_ right: AdminRight, on url: StoreURL) async throws {
        guard let store = try? url.openPresent() else { return }
        let found: Administrator?
        do {
            let isUsable = (try? await store.requirePresent(at: url, in: settings.cell)) != nil
            found = isUsable ? try await administrator(in: store) : nil
            try await store.close()
        } catch {
            try? await store.close()
            throw error
        }
        try found?.require(right)
    }

    /// The administrator that the account belongs to, removed or not.
    private func administrator(in store: any Database) async throws -> Administrator? {
        let accounts = operatorName.accounts
        return try await store.read { transaction in
            for account in accounts {
                if let found = try AdministratorRepository(transaction).find(account: account) { return found }
            }
            return nil
        }
    }
}
