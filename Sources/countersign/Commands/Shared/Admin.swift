import Database
import Domain
import Foundation
import Operations
import Repositories

/// The open store of an installation.
struct Admin: Sendable {
    let installation: Installation
    private let store: any Database
    let environment: Environment
    /// The administrator that the account of the system belongs to; `nil` if it has all rights.
    var administrator: Administrator?
    /// The live nodes of the store.
    var nodes: [ClusterMember] = []
    /// The keys that the store was written with.
    var written = NodeFingerprints(items: [:], policies: [:])

    init(installation: Installation, store: any Database, environment: Environment) {
        self.installation = installation
        self.store = store
        self.environment = environment
    }

    var settings: Settings { installation.settings }
    var keysDirectory: String { settings.keys }

    func policy() throws -> Policy { try installation.policy() }

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
                "\(keysDirectory)/\(item.rawValue) differs from that of the node on host \(node.host): name the "
                    + "keys of the nodes with --keys.")
        }
        return keys
    }

    /// ``administration``, if the keys of personal data equal those of the nodes. Otherwise the admin is probably at the wrong
    /// installation, which is reported before a ban.
    func administrationWithKeys() throws -> Administration {
        _ = try personalKeys()
        return try administration
    }

    /// The id that an admin typed, whole or as its beginning.
    ///
    /// - Throws: ``CommandFailure`` for a text that no id begins with, `Refusal` if it fits no object or several.
    func resolve<Kind: NamedKind>(_ typed: TypedID<Kind>) async throws -> Identifier<Kind> {
        try await withUsageErrors { try await administration.resolve(typed) }
    }

    /// - Throws: `CommandFailure` for policies that cannot be read or that no node has, as a role may need a second
    ///   administrator by them.
    var administration: Administration {
        get throws {
            Administration(
                store: store, environment: environment, actor: installation.operatorName.text(administrator),
                administrator: administrator, fourEyesOver: try fourEyesOver(),
                personalKeys: personalKeys)
        }
    }

    /// The policy's limit for a mapped account. The caller chooses the directory of policies, so `bans.yaml` must be that
    /// of a live node.
    private func fourEyesOver() throws -> Int {
        guard let administrator else { return 0 }
        let policy = try policy()
        guard administrator.role.includes(.manage), !nodes.isEmpty else { return policy.bans.fourEyesOver }
        let own = NodeFingerprints(items: [:], policies: PolicyFiles.fingerprints(of: policy))
        guard nodes.contains(where: { !own.differingPolicies(from: $0.fingerprints).contains("bans.yaml") }) else {
            throw CommandFailure(
                "\(settings.policies)/bans.yaml differs from that of every node: name the policies of the nodes with "
                    + "--policies, or reload the nodes.")
        }
        return policy.bans.fourEyesOver
    }

    /// The store, for what a command does without an operation of ``administration``.
    ///
    /// - Throws: `Refusal` `insufficient_scope` if the administrator's role lacks the right.
    func store(for right: AdminRight) async throws -> any Database {
        try await administration.require(right)
        return store
    }
}
