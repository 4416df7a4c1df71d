import Foundation

/// A process that serves a store, as the others know it.
package struct ClusterMember: Sendable, Equatable {
    package let id: NodeID
    /// The name of the machine.
    package let host: String
    package let version: String
    /// By the store's clock, as the next.
    package let startedAt: Date
    /// When it last said that it lives.
    package let seenAt: Date
    /// What it has in common with others.
    package let fingerprints: NodeFingerprints

    /// How often a node says that it lives, seconds.
    package static let interval: TimeInterval = 5
    /// Unseen for so many seconds it does not count.
    package static let patience: TimeInterval = 15

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

    /// Whether it counts at a moment.
    package func isLive(at now: Date) -> Bool { now.timeIntervalSince(seenAt) < Self.patience }

    /// The files of policies that some of the others have otherwise, sorted.
    package func differingPolicies(among nodes: [ClusterMember]) -> [String] {
        Set(nodes.flatMap { fingerprints.differingPolicies(from: $0.fingerprints) }).sorted()
    }
}

/// What a node and one of the others do not agree on.
package struct NodeDisagreement: Sendable, Equatable {
    package let node: ClusterMember
    package let differences: [NodeDifference]
    /// How long ago the other was seen, seconds.
    package let age: TimeInterval
}

/// Whether a node may serve beside others: those that share a store must have keys and policies in common.
package enum NodeAgreement: Sendable, Equatable {
    case agreed
    /// It does not agree with a node that has not been seen since this one came: that one may be dead. Ask again.
    case undecided(NodeDisagreement)
    case refused(NodeDisagreement)
    /// It may not: the store says that a newer version of the wrapping key is in force than this node has.
    case behind(versionInForce: Int)

    /// Checks a node that starts.
    ///
    /// - Parameters:
    ///   - own: what the node has.
    ///   - nodes: those that the store knows; the ones that do not count are left out.
    ///   - allowsOtherPolicies: whether policies may differ, for a change that is rolled out.
    ///   - versionInForce: the version of the wrapping key that new data keys lie under, by the store.
    ///   - arrival: when the node first asked, by the store's clock, as `now`.
    package static func evaluate(
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

    /// With whom of the nodes that count one does not agree, the last seen first.
    package static func disagreements(
        of own: NodeFingerprints, with nodes: [ClusterMember], allowsOtherPolicies: Bool, now: Date
    ) -> [NodeDisagreement] {
        nodes.filter { $0.isLive(at: now) }.sorted { $0.seenAt > $1.seenAt }.compactMap { node in
            let differences = own.differences(from: node.fingerprints).filter { difference in
                if case .policy = difference { !allowsOtherPolicies } else { true }
            }
            guard !differences.isEmpty else { return nil }
            return NodeDisagreement(
                node: node, differences: differences, age: max(0, now.timeIntervalSince(node.seenAt)))
        }
    }
}
