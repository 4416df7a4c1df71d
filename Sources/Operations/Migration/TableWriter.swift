import Database
import Domain

/// Writes rows of one table into the copy. Rows that violate a constraint, because other rows are missing or conflict,
/// are skipped one by one. The next comparison finds them.
struct TableWriter: Sendable {
    let target: any Database
    let shape: TableShape
    /// The run that may write to the copy.
    let run: String

    private var insert: String {
        let places = (1...shape.columns.count).map { "$\($0)" }.joined(separator: ", ")
        let others = shape.columns.filter { !shape.key.contains($0) }.map { "\"\($0)\" = excluded.\"\($0)\"" }
        let update = others.isEmpty ? "NOTHING" : "UPDATE SET \(others.joined(separator: ", "))"
        return """
            INSERT INTO "\(shape.name)" (\(TableReader.list(shape.columns))) VALUES (\(places))
            ON CONFLICT (\(TableReader.list(shape.key))) DO \(update)
            """
    }

    private var delete: String {
        let same = shape.key.enumerated().map { "\"\($1)\" = $\($0 + 1)" }
        return "DELETE FROM \"\(shape.name)\" WHERE \(same.joined(separator: " AND "))"
    }

    /// Inserts rows, or replaces those with the same keys. Returns how many were skipped.
    ///
    /// - Parameter isHalving: whether to find the rows that violate a constraint; otherwise all rows are skipped with
    ///   them.
    @discardableResult
    func put(_ rows: [[Value]], isHalving: Bool = true) async throws -> Int {
        try await carryOut(insert, rows[...], isHalving: isHalving)
    }

    /// Deletes the rows with these keys. Returns how many were kept because other rows reference them.
    @discardableResult
    func remove(_ keys: [[Value]]) async throws -> Int {
        try await carryOut(delete, keys[...], isHalving: true)
    }

    /// How far the table was filled: the last key, and whether it is complete.
    func filled() async throws -> (key: [Value]?, isFilled: Bool) {
        let name = shape.name
        return try await target.snapshot { transaction in
            let row = try transaction.first(
                "SELECT last_key, is_filled FROM store_copy_tables WHERE name = $1", [.text(name)])
            guard let row else { return (nil, false) }
            return (try row.bytesOrNull(0).flatMap { EncodedRow(bytes: $0).values }, try row.bool(1))
        }
    }

    /// Inserts a page and stores the progress, in one transaction if the page permits it.
    func fill(_ rows: [[Value]], through key: [Value]?, isFilled: Bool) async throws {
        let (name, insert) = (shape.name, insert)
        let note: @Sendable (any Transaction) throws -> Void = { transaction in
            try transaction.execute(
                """
                INSERT INTO store_copy_tables (name, last_key, is_filled) VALUES ($1, $2, $3)
                ON CONFLICT (name) DO UPDATE SET last_key = excluded.last_key, is_filled = excluded.is_filled
                """, [.text(name), key.map { .bytes(EncodedRow($0).bytes) } ?? .null, Value(isFilled)])
        }
        do {
            try await write { transaction in
                try transaction.execute(insert, rows: rows)
                try note(transaction)
            }
        } catch StoreError.constraint {
            try await put(rows)
            try await write(note)
        }
    }

    /// Executes a statement for each row. If a constraint forbids some rows, they are found by bisection and skipped.
    private func carryOut(_ sql: String, _ rows: ArraySlice<[Value]>, isHalving: Bool) async throws -> Int {
        guard !rows.isEmpty else { return 0 }
        do {
            try await write { try $0.execute(sql, rows: Array(rows)) }
            return 0
        } catch StoreError.constraint {
            guard isHalving, rows.count > 1 else { return rows.count }
            let middle = rows.startIndex + rows.count / 2
            let first = try await carryOut(sql, rows[..<middle], isHalving: true)
            let second = try await carryOut(sql, rows[middle...], isHalving: true)
            return first + second
        }
    }

    /// Writes only if this run still may: another run may have taken over, or finished the copy.
    private func write(_ body: @Sendable @escaping (any Transaction) throws -> Void) async throws {
        let run = run
        try await target.transaction { transaction in
            try CopyStore.requireTurn(run, in: transaction)
            try body(transaction)
        }
    }
}
