import Database
import Domain
import Encoding
import Foundation

/// The processes that serve the store. Each writes its own row and reads the others'.
package struct ClusterMemberRepository {
    private let transaction: any Transaction
}

package extension ClusterMemberRepository {
    static let table = "nodes"

    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = Table<ClusterMember>(
        "nodes",
        { id, host, version, startedAt, seenAt, text in
            guard let fingerprints = try? StrictJSON.parse(Array(text.utf8)) else { throw DamagedRow(column: 5) }
            return ClusterMember(
                id: id, host: host, version: version, startedAt: startedAt, seenAt: seenAt,
                fingerprints: NodeFingerprints(json: fingerprints))
        },
        Field("id", \.id),
        Field("host", \.host),
        Field("version", \.version),
        Field("started_at", \.startedAt),
        Field("seen_at", \.seenAt),
        Field("fingerprints", \.fingerprints.json.jsonText))
    private static let insertion = columns.insertion(with: "log_position")

    /// How long a node without a heartbeat keeps its position in the change log, in seconds. It is longer than the time
    /// for which the node is live, so an isolated node can read what it missed. After that its position is invalid, and
    /// it drops its caches.
    static let logPatience: TimeInterval = 600

    /// Writes a node's heartbeat with its fingerprints and its position in the change log. It inserts the row again if
    /// it was deleted meanwhile.
    func write(
        _ node: NodeID, host: String, version: String, startedAt: Date, _ fingerprints: NodeFingerprints,
        position: ChangePosition? = nil
    ) throws {
        let member = ClusterMember(
            id: node, host: host, version: version, startedAt: startedAt, seenAt: transaction.now,
            fingerprints: fingerprints)
        try transaction.execute(
            """
            \(Self.insertion)
            ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, fingerprints = excluded.fingerprints,
                log_position = excluded.log_position
            """, Self.columns.row(member, Value(position?.text)))
    }

    /// The positions in the change log of the nodes that may continue from them.
    func positions() throws -> [ChangePosition] {
        let moment = transaction.now.addingTimeInterval(-Self.logPatience)
        return try transaction.query(
            "SELECT log_position FROM nodes WHERE seen_at > $1 AND log_position IS NOT NULL", [.time(moment)]
        ).compactMap { ChangePosition(text: try $0.text(0)) }
    }

    /// The nodes with a recent heartbeat, oldest first.
    func live() throws -> [ClusterMember] {
        let moment = transaction.now.addingTimeInterval(-ClusterMember.patience)
        return try transaction.query(Self.columns, "WHERE seen_at > $1 ORDER BY started_at, id", [.time(moment)])
    }

    /// Removes a node that stops.
    func remove(_ node: NodeID) throws {
        try transaction.execute("DELETE FROM nodes WHERE id = $1", [.id(node)])
    }

    /// Deletes nodes without a heartbeat since a time; returns how many.
    @discardableResult
    func purge(unseenSince moment: Date) throws -> Int {
        try transaction.execute("DELETE FROM nodes WHERE seen_at < $1", [.time(moment)])
    }
}
