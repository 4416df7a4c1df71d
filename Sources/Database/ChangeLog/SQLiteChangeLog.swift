import Foundation

/// The change log in a file, whose one writer numbers entries in the order of commits.
package extension SQLiteDatabase {
    func changePosition() async throws -> ChangePosition {
        try await readReserved { try Self.end($0) }
    }

    func changes(after position: ChangePosition, limit: Int) async throws -> ChangeReading {
        try await readReserved { transaction in
            let incarnation = try transaction.first("SELECT value FROM change_log_incarnation WHERE id = 1")?.text(0)
            let number = position.last?.number ?? 0
            let tag = try transaction.first("SELECT tag FROM change_log WHERE n = $1", [.integer(number)])?.integer(0)
            guard incarnation == position.incarnation, tag == position.last?.tag else {
                return ChangeReading(
                    changes: [], position: try Self.end(transaction), isInterrupted: true, hasMore: false,
                    horizonAge: 0, now: nil)
            }
            let rows = try transaction.query(
                "SELECT n, tag, kind, key FROM change_log WHERE n > $1 ORDER BY n LIMIT $2",
                [.integer(number), Value(limit)])
            var next = position
            if let row = rows.last {
                next.last = .init(transaction: 0, number: try row.integer(0), tag: try row.integer(1))
            }
            return ChangeReading(
                changes: try rows.map { LoggedChange(kind: Int(try $0.integer(2)), key: try $0.bytes(3)) },
                position: next, isInterrupted: false, hasMore: rows.count == limit, horizonAge: 0,
                now: transaction.now)
        }
    }

    func purgeChanges(below positions: [ChangePosition]) async throws {
        guard let floor = positions.map({ $0.last?.number ?? 0 }).min() else { return }
        // Each batch is a separate write, so that other writers do not wait for all of it.
        while try await write({ try Self.purge(below: floor, in: $0) }) == Self.batch {}
    }

    private static let batch = 1000

    private static func purge(below floor: Int64, in transaction: any Transaction) throws -> Int {
        try transaction.execute(
            "DELETE FROM change_log WHERE n IN (SELECT n FROM change_log WHERE n < $1 ORDER BY n LIMIT $2)",
            [.integer(floor), Value(batch)])
    }

    private static func end(_ transaction: any Transaction) throws -> ChangePosition {
        let incarnation = try transaction.first("SELECT value FROM change_log_incarnation WHERE id = 1")?.text(0)
        let row = try transaction.first("SELECT n, tag FROM change_log ORDER BY n DESC LIMIT 1")
        return ChangePosition(
            incarnation: incarnation ?? "",
            last: try row.map { .init(transaction: 0, number: try $0.integer(0), tag: try $0.integer(1)) })
    }
}

extension SQLiteTransaction {
    func createChangeLog() throws {
        // AUTOINCREMENT never reuses a purged number.
        try execute(
            """
            CREATE TABLE change_log (
                n INTEGER PRIMARY KEY AUTOINCREMENT, tag BIGINT NOT NULL, kind INTEGER NOT NULL, key BLOB NOT NULL,
                at BIGINT NOT NULL
            )
            """)
        try createIncarnation()
    }

    func appendChange(kind: Int, key: [UInt8]) throws {
        try execute(
            "INSERT INTO change_log (tag, kind, key, at) VALUES ($1, $2, $3, $4)",
            [
                .integer(.random(in: Int64.min...Int64.max)), Value(kind), .bytes(key),
                .integer(Int64(now.timeIntervalSince1970)),
            ])
    }
}
