import Domain
import Encoding
import Foundation
import Operations

/// The nodes that serve the store.
enum NodePages {
    static let routes: [ConsoleRoute] = [.page("/nodes", .audit, cost: .read, list)]

    @Sendable private static func list(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let (nodes, at) = try await request.administration.listNodes()
        let invalidator = request.parts.service.invalidator
        return .page(
            page(
                nodes, at: at,
                here: (
                    staleness: invalidator.age, limit: request.parts.service.policy[\.bans].maximumStaleness,
                    clockDifference: invalidator.clockDifference
                )))
    }

    /// What the node that answers knows of itself, in seconds.
    typealias Own = (staleness: TimeInterval, limit: TimeInterval, clockDifference: TimeInterval)

    /// - Parameter now: the time by the store's clock.
    static func page(_ nodes: [ClusterMember], at now: Date, here: Own) -> Page {
        var facts = Facts()
        facts.add("View of the store", "\(tenths(here.staleness)) s old, at most \(tenths(here.limit)) s")
        facts.add("Clock of this node", clock(here.clockDifference))
        facts.add("Time of the store", now)
        let table = DataTable<ClusterMember>(
            "Nodes, oldest first", none: "No node serves the store.",
            [
                .text("Host") { $0.host }, .text("Node") { $0.id.short }, .text("Version") { $0.version },
                .init("Started") { .ago($0.startedAt, at: now) },
                .init("Last heartbeat") { .ago($0.seenAt, at: now) },
                .text("Policies") { node in
                    let differing = node.differingPolicies(among: nodes)
                    return differing.isEmpty
                        ? "as on the other nodes" : "differ in \(differing.joined(separator: ", "))"
                },
            ])
        return Page(
            "Nodes",
            content: """
                <h2>This node</h2>
                \(facts.markup)
                \(table.markup(nodes))
                """)
    }

    private static func tenths(_ seconds: TimeInterval) -> String {
        let tenths = Int((min(max(0, seconds), 86_400) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    private static func clock(_ difference: TimeInterval) -> String {
        let size = tenths(difference.magnitude)
        guard size != "0.0" else { return "agrees with the store's" }
        return "\(size) s \(difference > 0 ? "ahead of" : "behind") the store's"
    }
}
