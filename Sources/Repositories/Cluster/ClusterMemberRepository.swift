import Database
import Domain
import Encoding
import Foundation

/// The processes that serve the store. Each writes its own row and reads the others'.
package struct ClusterMemberRepository {
    private let transaction: any Transaction

    package static let table = "nodes"

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// Writes that a node lives now, and what it has; one that was forgotten meanwhile is there again.
    package func write(_ node: NodeID, host: String, version: String, startedAt: Date, _ fingerprints: NodeFingerprints)
        throws
    {
        try transaction.execute(
            """
            INSERT INTO nodes (id, host, version, started_at, seen_at, fingerprints) VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, fingerprints = excluded.fingerprints
            """,
            [
                .id(node), .text(host), .text(version), .time(startedAt), .time(transaction.now),
                .text(fingerprints.json.jsonText),
            ])
    }

    /// The nodes that count, oldest first.
    package func live() throws -> [ClusterMember] {
        let moment = transaction.now.addingTimeInterval(-ClusterMember.patience)
        return try transaction.query(
            """
            SELECT id, host, version, started_at, seen_at, fingerprints FROM nodes WHERE seen_at > $1
            ORDER BY started_at, id
            """, [.time(moment)]
        ).map { row in
            guard let fingerprints = try? StrictJSON.parse(Array(try row.text(5).utf8)) else {
                throw DamagedRow(column: 5)
            }
            return ClusterMember(
                id: try row.id(0), host: try row.text(1), version: try row.text(2), startedAt: try row.time(3),
                seenAt: try row.time(4), fingerprints: NodeFingerprints(json: fingerprints))
        }
    }

    /// Takes a node out that ends.
    package func remove(_ node: NodeID) throws {
        try transaction.execute("DELETE FROM nodes WHERE id = $1", [.id(node)])
    }

    /// Forgets nodes that were not seen since a moment.
    package func purge(unseenSince moment: Date) throws {
        try transaction.execute("DELETE FROM nodes WHERE seen_at < $1", [.time(moment)])
    }
}

extension Schema {
    /// The processes that serve the store, with digests of what they must have in common.
    static let nodes =
        Migration(
            identifier: 10, name: "nodes",
            statements: [
                """
                CREATE TABLE nodes (
                    id TEXT NOT NULL PRIMARY KEY,
                    host TEXT NOT NULL,
                    version TEXT NOT NULL,
                    started_at BIGINT NOT NULL,
                    seen_at BIGINT NOT NULL,
                    fingerprints TEXT NOT NULL
                )
                """
            ])
}
