import Database
import Domain
import Foundation
import Repositories

/// Announces this node to the other nodes of a store, and checks that they agree on keys and policies. At the start a
/// node that disagrees may not serve.
package struct AnnounceNode: Sendable {
    private let store: any Database
    private let keys: PersonalKeys
    private let host: String
    private let version: String
    private let fingerprints: @Sendable () -> NodeFingerprints
    private let readAgain: @Sendable () -> Void
    private let position: @Sendable () -> ChangePosition?
    private let environment: Environment
    package let id: NodeID
}

package extension AnnounceNode {
    /// - Parameters:
    ///   - keys: the keys of personal data.
    ///   - host: the name of the machine.
    ///   - version: the program's version.
    ///   - fingerprints: the node's current digests; keys and policies can be reloaded.
    ///   - readAgain: reloads the keys with versions, because there is a newer one, or an older one may have been
    ///     removed.
    ///   - position: how far the node has read the change log. Later entries are kept for it.
    init(
        store: any Database, keys: PersonalKeys, host: String, version: String, environment: Environment,
        fingerprints: @escaping @Sendable () -> NodeFingerprints, readAgain: @escaping @Sendable () -> Void = {},
        position: @escaping @Sendable () -> ChangePosition? = { nil }
    ) {
        self.store = store
        self.keys = keys
        self.host = host
        self.version = version
        self.environment = environment
        self.fingerprints = fingerprints
        self.readAgain = readAgain
        self.position = position
        id = environment.newIdentifier()
    }

    /// Evaluates the node and, if it may serve, records it. Both are one transaction, so of two nodes that start at
    /// once and disagree one is refused. If it disagrees with a node that may be dead, it waits for that node's
    /// heartbeat or its end, at most for `ClusterMember/patience`.
    ///
    /// - Parameters:
    ///   - allowsOtherPolicies: whether policies may differ.
    ///   - onWait: called once with the disagreement.
    /// - Returns: `NodeAgreement/agreed`, or why it may not serve.
    /// - Throws: `Refusal` `unavailable`.
    func join(
        allowsOtherPolicies: Bool, onWait: @Sendable (NodeAgreement.Disagreement) -> Void = { _ in }
    ) async throws -> NodeAgreement {
        var arrival: Date?
        while true {
            let first = arrival
            let (own, position) = (fingerprints(), position())
            let (verdict, now) = try await store.transaction { transaction -> (NodeAgreement, Date) in
                let now = transaction.now
                let written = KeyFingerprintRepository(transaction)
                let others = own.contradictions(to: try written.list())
                guard others.isEmpty else { return (.otherKeys(others), now) }
                let records = ClusterMemberRepository(transaction)
                let verdict = NodeAgreement.evaluate(
                    own, beside: try records.live().filter { $0.id != id }, allowsOtherPolicies: allowsOtherPolicies,
                    versionInForce: try DataKeyRepository(transaction, keys: keys).versionInForce(),
                    arrival: first ?? now, now: now)
                if verdict == .agreed {
                    try written.add(own)
                    try records.write(
                        id, host: host, version: version, startedAt: now, own, position: position)
                }
                return (verdict, now)
            }
            guard case .undecided(let disagreement) = verdict else { return verdict }
            if arrival == nil {
                arrival = now
                onWait(disagreement)
            }
            try await Task.sleep(for: .seconds(0.5))
        }
    }

    /// Reads the other nodes, and reloads the keys if there is a newer one or an older one may have been removed. Then
    /// it writes this node's heartbeat with its current digests, in one short transaction.
    ///
    /// - Returns: the nodes that it disagrees with, on policies too.
    /// - Throws: `Refusal` `unavailable`.
    @discardableResult
    func beat() async throws -> [NodeAgreement.Disagreement] {
        let (others, inForce, now) = try await store.snapshot { transaction in
            (
                try ClusterMemberRepository(transaction).live().filter { $0.id != id },
                try DataKeyRepository(transaction, keys: keys).versionInForce(), transaction.now
            )
        }
        var own = fingerprints()
        let mayBeRemoved = keys.wrappingFingerprints.keys.contains { $0 < inForce }
        if inForce > keys.currentWrappingVersion || mayBeRemoved
            || others.contains(where: { own.isBehind($0.fingerprints) })
        {
            readAgain()
            own = fingerprints()
        }
        let (present, position) = (own, position())
        // In the queue of administration, so that a busy node is not considered dead.
        try await store.transaction(on: .administration) { transaction in
            try ClusterMemberRepository(transaction).write(
                id, host: host, version: version, startedAt: transaction.now, present, position: position)
        }
        return NodeAgreement.disagreements(of: present, with: others, allowsOtherPolicies: false, now: now)
    }

    /// Removes the node, so that others need not wait for its expiry.
    func leave() async throws {
        try await store.transaction { try ClusterMemberRepository($0).remove(id) }
    }

    /// Writes heartbeats until the task is cancelled, then removes the node.
    ///
    /// - Parameters:
    ///   - observe: called after each heartbeat with the disagreements.
    ///   - onError: called with the error of each failed heartbeat, which the next one repeats.
    func run(
        observe: @Sendable ([NodeAgreement.Disagreement]) -> Void,
        onError: @escaping @Sendable (any Error) -> Void
    ) async {
        while !Task.isCancelled {
            guard (try? await Task.sleep(for: .seconds(ClusterMember.interval))) != nil else { break }
            do {
                observe(try await beat())
            } catch {
                onError(error)
            }
        }
        // A separate task, because the cancellation must not stop it.
        await Task {
            do { try await leave() } catch { onError(error) }
        }.value
    }
}
