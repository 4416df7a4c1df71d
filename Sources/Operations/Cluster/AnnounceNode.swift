import Database
import Domain
import Foundation
import Repositories

/// Tells the other nodes of a store that this one is there, and sees that they agree on keys and policies: at the start,
/// where one that does not agree may not serve, and from then on.
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

    /// Announces a node in a store.
    ///
    /// - Parameters:
    ///   - keys: what personal data lies under here.
    ///   - host: the name of the machine.
    ///   - version: the program's.
    ///   - fingerprints: what the node has at that moment; keys and policies can be read anew.
    ///   - readAgain: reads the keys that have versions anew: there is a newer one, or an older one may be gone.
    ///   - position: how far the node has read the change log: what stands behind that is kept for it.
    package init(
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

    /// Judges the node and, where it may serve, writes it down: one transaction, so that of two that come at once and do
    /// not agree one is refused. Where it does not agree with a node that may be dead it waits until that one is seen, or
    /// does not count any more: for `ClusterMember/patience` at most.
    ///
    /// - Parameters:
    ///   - allowsOtherPolicies: whether policies may differ.
    ///   - onWait: told once whom it waits for.
    /// - Returns: `NodeAgreement/agreed`, or why it may not serve.
    /// - Throws: `Refusal` `unavailable`.
    package func join(
        allowsOtherPolicies: Bool, onWait: @Sendable (NodeDisagreement) -> Void = { _ in }
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

    /// Looks at the others, reads the keys again if there is a newer one or an older one may have been removed, and says
    /// in one short write that the node lives, with what it has now.
    ///
    /// - Returns: with whom it does not agree, on policies too.
    /// - Throws: `Refusal` `unavailable`.
    @discardableResult
    package func beat() async throws -> [NodeDisagreement] {
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
        // Past a crowd of requests: a node that is busy lives.
        try await store.transaction(on: .administration) { transaction in
            try ClusterMemberRepository(transaction).write(
                id, host: host, version: version, startedAt: transaction.now, present, position: position)
        }
        return NodeAgreement.disagreements(of: present, with: others, allowsOtherPolicies: false, now: now)
    }

    /// Takes the node out, so that others need not wait for its end.
    package func leave() async throws {
        try await store.transaction { try ClusterMemberRepository($0).remove(id) }
    }

    /// Says that the node lives until the task is cancelled, then that it goes.
    ///
    /// - Parameters:
    ///   - observe: told after each time with whom the node does not agree.
    ///   - onError: told about each failed try; the next one does it.
    package func run(
        observe: @Sendable ([NodeDisagreement]) -> Void,
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
        // A task of its own: the cancellation is not meant for this.
        await Task {
            do { try await leave() } catch { onError(error) }
        }.value
    }
}
