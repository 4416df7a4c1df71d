/// The state of a copy, stored in the source and in the target. Its tables are never copied.
package struct CopyMark: Sendable, Equatable {
    /// The source's identity: a UUID that both stores record.
    package var copy: String
    /// The target's identity; in a source empty until it has moved to that target.
    package var target: String
    /// The address of the other store, without credentials.
    package var peer: String
    package var state: State
    /// The run that may write to the target.
    package var run: String

    package init(copy: String, target: String, peer: String, state: State, run: String) {
        (self.copy, self.target, self.peer, self.state, self.run) = (copy, target, peer, state, run)
    }
}

package extension CopyMark {
    /// The role of this store in the copy.
    enum Role: String, Sendable {
        case source
        case target
    }

    enum State: String, Sendable {
        /// A source in use, or an incomplete target.
        case open
        /// A source whose tables were retired after the move.
        case moved
        /// A complete target in use.
        case finished
    }

    /// Whether a table belongs to the copy itself.
    static func owns(table: String) -> Bool { table.hasPrefix("store_copy") }

    /// The name of a table after its store was moved. No statement of any process or build finds it.
    static func retire(_ table: String) -> String { "moved_" + table }
}

package extension Transaction {
    /// Creates the tables of the marks.
    func createCopyMarks() throws {
        try execute(
            """
            CREATE TABLE IF NOT EXISTS store_copy (
                role TEXT NOT NULL PRIMARY KEY, copy TEXT NOT NULL, target TEXT NOT NULL, peer TEXT NOT NULL,
                state TEXT NOT NULL, run TEXT NOT NULL
            )
            """)
        try execute(
            """
            CREATE TABLE IF NOT EXISTS store_copy_tables (
                name TEXT NOT NULL PRIMARY KEY, last_key BYTEA, is_filled INTEGER NOT NULL
            )
            """)
    }

    /// The mark of a role; `nil` if there is none.
    func copyMark(_ role: CopyMark.Role) throws -> CopyMark? {
        let row = try first(
            "SELECT copy, target, peer, state, run FROM store_copy WHERE role = $1", [.text(role.rawValue)])
        guard let row else { return nil }
        guard let state = CopyMark.State(rawValue: try row.text(3)) else {
            throw StoreError.column(3, expected: "a state of a copy")
        }
        return CopyMark(
            copy: try row.text(0), target: try row.text(1), peer: try row.text(2), state: state, run: try row.text(4))
    }

    func setCopyMark(_ mark: CopyMark, _ role: CopyMark.Role) throws {
        try execute(
            """
            INSERT INTO store_copy (role, copy, target, peer, state, run) VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (role) DO UPDATE SET copy = excluded.copy, target = excluded.target, peer = excluded.peer,
                state = excluded.state, run = excluded.run
            """,
            [
                .text(role.rawValue), .text(mark.copy), .text(mark.target), .text(mark.peer),
                .text(mark.state.rawValue), .text(mark.run),
            ])
    }
}

package extension Database {
    /// The store's marks; both `nil` if the store was never part of a copy.
    ///
    /// - Throws: `StoreError`.
    func copyMarks() async throws -> (source: CopyMark?, target: CopyMark?) {
        // A store that was never part of a copy has no such table, and a server would log the query as an error.
        guard try await tables().contains(where: { $0.name == "store_copy" }) else { return (nil, nil) }
        return try await read { (try $0.copyMark(.source), try $0.copyMark(.target)) }
    }

    /// Whether the store is usable.
    ///
    /// - Throws: `StoreError`.
    func availability() async throws -> StoreAvailability {
        let marks = try await copyMarks()
        if let target = marks.target, target.state == .open { return .unfinished(copyOf: target.peer) }
        if let source = marks.source, source.state == .moved { return .moved(to: source.peer) }
        return .usable
    }

    /// Returns if the store is usable.
    ///
    /// - Throws: `StoreError.notUsable`.
    func requireUsable() async throws {
        let availability = try await availability()
        guard availability == .usable else { throw StoreError.notUsable(availability) }
    }

    /// Renames the store's tables in one transaction with a last write. From then on no process can write to them, even
    /// if it had the store open before.
    ///
    /// - Parameters:
    ///   - mark: the record of the move.
    ///   - lastWord: writes to the tables before they are renamed.
    /// - Throws: `StoreError`, or the error of the last write. Then nothing has changed.
    func retire(
        _ mark: CopyMark, lastWord: @Sendable @escaping (any Transaction) throws -> Void
    ) async throws {
        let names = try await tables().map(\.name).filter(isPutAway)
        try await alter { transaction in
            try lastWord(transaction)
            for name in names {
                try transaction.execute("ALTER TABLE \"\(name)\" RENAME TO \"\(CopyMark.retire(name))\"")
            }
            try transaction.setCopyMark(mark, .source)
        }
    }

    /// Puts a moved store back into use, in one transaction with a first write.
    ///
    /// - Parameter firstWord: writes to the tables before any other process can.
    /// - Returns: the store that it was moved to; `nil` if it was not moved, and nothing was done.
    /// - Throws: `StoreError`, or the error of the first write. Then nothing has changed.
    func takeBack(
        firstWord: @Sendable @escaping (any Transaction) throws -> Void = { _ in }
    ) async throws -> String? {
        guard var mark = try await copyMarks().source, mark.state == .moved else { return nil }
        let place = mark.peer
        (mark.state, mark.target) = (.open, "")
        let names = try await tables().map(\.name).filter { $0.hasPrefix(CopyMark.retire("")) }
        try await alter { [mark] transaction in
            for name in names {
                let plain = name.dropFirst(CopyMark.retire("").count)
                try transaction.execute("ALTER TABLE \"\(name)\" RENAME TO \"\(plain)\"")
            }
            try transaction.setCopyMark(mark, .source)
            try firstWord(transaction)
        }
        return place
    }
}

/// The schema's history keeps its name, because a run that completes the move compares it with its own migrations.
private func isPutAway(_ table: String) -> Bool {
    table != "schema_migrations" && !CopyMark.owns(table: table)
}
