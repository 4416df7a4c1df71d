import ArgumentParser
import Database
import Domain
import Foundation
import Operations
import Repositories

/// The store of an admin command, and the actor for the audit log.
struct Admin: Sendable {
    let store: any Database
    let actor: String
    let keysDirectory: String
    let environment: Environment
    /// The live nodes of the store.
    var nodes: [ClusterMember] = []
    /// The keys that the store was written with.
    var written = NodeFingerprints(items: [:], policies: [:])

    /// Opens the store of the settings, runs the body, and closes the store.
    ///
    /// - Parameter mayCreate: whether the command may create a missing store and migrate an old one. Other commands
    ///   refuse both: a wrong address is then noticed, and an upgrade stays the operator's decision.
    static func run<Result>(
        _ options: SharedOptions, mayCreate: Bool = false, _ body: (Admin) async throws -> Result
    ) async throws -> Result {
        let settings = try Settings.resolve(shared: options)
        let actor = try OperatorName.text(actor: options.actor)
        let store = try mayCreate ? settings.store.open(clock: { Date() }) : settings.store.openPresent()
        var admin = Admin(
            store: store, actor: actor, keysDirectory: settings.keys, environment: Environment(cell: settings.cell))
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

    /// The keys of personal data, for commands that read or seal it. If they differed from the nodes' keys, a ban
    /// would seem to work and match nobody.
    func personalKeys() throws -> PersonalKeys {
        let keys = try KeyFiles.personal(in: keysDirectory)
        let own = NodeFingerprints(
            items: [.wrappingKeys: keys.wrappingFingerprints, .blindIndexKeys: keys.indexFingerprints], policies: [:])
        if let item = own.contradictions(to: written).first {
            throw CommandFailure(NodeRefusal.otherKey(item, in: keysDirectory))
        }
        for node in nodes {
            guard let item = own.contradictions(to: node.fingerprints).first else { continue }
            throw CommandFailure(
                "\(keysDirectory)/\(item.rawValue) is not the one of the node on host \(node.host): use the keys of the "
                    + "nodes (--keys).")
        }
        return keys
    }

    /// ``context``, if the keys of personal data are those of the nodes. With other keys the admin is probably at the
    /// wrong installation, and learns it before a ban.
    func contextWithPersonalKeys() throws -> AdminContext {
        _ = try personalKeys()
        return context
    }

    /// The common inputs of admin operations.
    var context: AdminContext { AdminContext(store: store, environment: environment, actor: actor) }
}

/// Parses a reason that an admin typed.
func auditReason(_ text: String, _ option: String = "--reason") throws(CommandFailure) -> AuditReason {
    guard let reason = AuditReason(text) else {
        throw CommandFailure(
            "\(option) takes a code or a ticket's number such as user_request or ticket:4711, without spaces and without "
                + "personal data: the audit log keeps it for years.", exitCode: .usage)
    }
    return reason
}

/// Parses an identifier that an admin typed.
func identifier<Kind>(_ text: String, _ what: String) throws(CommandFailure) -> Identifier<Kind> {
    guard let id = Identifier<Kind>(text[...]) else {
        throw CommandFailure("\(text) is no \(what) id.", exitCode: .usage)
    }
    return id
}
