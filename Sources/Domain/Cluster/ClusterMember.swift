import Foundation

/// A process that serves a store, as its heartbeat in the store describes it.
package struct ClusterMember: Sendable, Equatable {
    package let id: NodeID
    /// The host name of its machine.
    package let host: String
    package let version: String
    /// When it started, by the store's clock.
    package let startedAt: Date
    /// Its last heartbeat, by the store's clock.
    package let seenAt: Date
    /// The digests of its keys and policies, which other nodes compare with theirs.
    package let fingerprints: NodeFingerprints

    package init(
        id: NodeID, host: String, version: String, startedAt: Date, seenAt: Date, fingerprints: NodeFingerprints
    ) {
        self.id = id
        self.host = host
        self.version = version
        self.startedAt = startedAt
        self.seenAt = seenAt
        self.fingerprints = fingerprints
    }

    /// Whether its last heartbeat is recent enough.
    func isLive(at now: Date) -> Bool { now.timeIntervalSince(seenAt) < Self.patience }
}

package extension ClusterMember {
    /// The time between two heartbeats, in seconds.
    static let interval: TimeInterval = 5
    /// Seconds without a heartbeat after which it is considered dead.
    static let patience: TimeInterval = 15

    /// The policy files that differ on some of the other nodes, sorted.
    func differingPolicies(among nodes: [ClusterMember]) -> [String] {
        Set(nodes.flatMap { fingerprints.differingPolicies(from: $0.fingerprints) }).sorted()
    }
}

/// Whether a node may serve beside others: nodes that share a store must agree on keys and policies.
package enum NodeAgreement: Sendable, Equatable {
    case agreed
    /// It disagrees with a node that may be dead: that node has sent no heartbeat since this one started. Evaluate
    /// again later.
    case undecided(Disagreement)
    case refused(Disagreement)
    /// Refused: the store requires a newer version of the wrapping key than this node has.
    case behind(versionInForce: Int)
    /// Refused: the store was written with other keys than these items of the node.
    case otherKeys([NodeFingerprints.Item])
}

package extension NodeAgreement {
    /// What a node and another node disagree on.
    struct Disagreement: Sendable, Equatable {
        package let node: ClusterMember
        package let differences: [NodeFingerprints.Difference]
        /// Seconds since the other node's last heartbeat.
        package let age: TimeInterval
    }

    /// Evaluates a node that starts.
    ///
    /// - Parameters:
    ///   - own: the node's own digests.
    ///   - nodes: the nodes in the store; dead ones are ignored.
    ///   - allowsOtherPolicies: whether policies may differ, while a change is rolled out.
    ///   - versionInForce: the stored version of the wrapping key that wraps new data keys.
    ///   - arrival: when the node first called this, by the store's clock, like `now`.
    static func evaluate(
        _ own: NodeFingerprints, beside nodes: [ClusterMember], allowsOtherPolicies: Bool, versionInForce: Int,
        arrival: Date, now: Date
    ) -> NodeAgreement {
        if let newest = own.items[.wrappingKeys]?.keys.max(), newest < versionInForce {
            return .behind(versionInForce: versionInForce)
        }
        let found = disagreements(of: own, with: nodes, allowsOtherPolicies: allowsOtherPolicies, now: now)
        if let certain = found.first(where: { $0.node.seenAt > arrival }) { return .refused(certain) }
        return found.first.map { .undecided($0) } ?? .agreed
    }

    /// The live nodes that a node disagrees with, latest heartbeat first.
    static func disagreements(
        of own: NodeFingerprints, with nodes: [ClusterMember], allowsOtherPolicies: Bool, now: Date
    ) -> [Disagreement] {
        nodes.filter { $0.isLive(at: now) }.sorted { $0.seenAt > $1.seenAt }.compactMap { node in
            let differences = own.differences(from: node.fingerprints).filter { difference in
                if case .policy = difference { !allowsOtherPolicies } else { true }
            }
            guard !differences.isEmpty else { return nil }
            return Disagreement(
                node: node, differences: differences, age: max(0, now.timeIntervalSince(node.seenAt)))
        }
    }
}
