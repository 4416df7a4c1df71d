import Foundation

/// A process that serves a store, as the others know it.
public struct ClusterMember: Sendable, Equatable {
    /// Drawn at its start.
    public let id: NodeID
    /// The name of the machine.
    public let host: String
    /// The program's version.
    public let version: String
    /// By the store's clock, as the next.
    public let startedAt: Date
    /// When it last said that it lives.
    public let seenAt: Date
    /// What it has in common with others.
    public let fingerprints: NodeFingerprints

    /// How often a node says that it lives, seconds.
    public static let interval: TimeInterval = 5
    /// Unseen for so many seconds it does not count.
    public static let patience: TimeInterval = 15

    /// Joins the parts.
    public init(
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
    public func isLive(at now: Date) -> Bool { now.timeIntervalSince(seenAt) < Self.patience }

    /// The files of policies that some of the others have otherwise, sorted.
    public func differingPolicies(among nodes: [ClusterMember]) -> [String] {
        Set(nodes.flatMap { fingerprints.differingPolicies(from: $0.fingerprints) }).sorted()
    }
}

/// What a node and one of the others do not agree on.
public struct NodeDisagreement: Sendable, Equatable {
    /// The other.
    public let node: ClusterMember
    /// At least one thing.
    public let differences: [NodeDifference]
    /// How long ago the other was seen, seconds.
    public let age: TimeInterval
}

/// Whether a node may serve beside others: those that share a store must have keys and policies in common.
public enum NodeAgreement: Sendable, Equatable {
    /// It may.
    case agreed
    /// It does not agree with a node that has not been seen since this one came: that one may be dead. Ask again.
    case undecided(NodeDisagreement)
    /// It may not.
    case refused(NodeDisagreement)
    /// It may not: the store says that a newer version of the wrapping key is in force than this node has.
    case behind(versionInForce: Int)

    /// Judges a node that starts.
    ///
    /// - Parameters:
    ///   - own: what the node has.
    ///   - nodes: those that the store knows; the ones that do not count are left out.
    ///   - allowsOtherPolicies: whether policies may differ, for a change that is rolled out.
    ///   - versionInForce: the version of the wrapping key that new data keys lie under, by the store.
    ///   - arrival: when the node first asked, by the store's clock, as `now`.
    public static func judge(
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
    public static func disagreements(
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
