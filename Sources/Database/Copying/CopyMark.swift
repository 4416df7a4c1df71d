/// What a store knows of being copied, as the one that is copied or as the copy; it lies in tables of its own, which are
/// never copied.
package struct CopyMark: Sendable, Equatable {
    /// Which of the two stores this is.
    package enum Role: String, Sendable {
        case source
        case target
    }

    package enum State: String, Sendable {
        /// A source that is in use, or a target that is not whole.
        case open
        /// A source whose tables have been put away, since they live on elsewhere.
        case moved
        /// A target that is whole and in use.
        case finished
    }

    /// The source's identity: a UUID, the same on both sides.
    package var copy: String
    /// The target's identity; in a source empty until it has moved to that target.
    package var target: String
    /// The place of the other store, without credentials.
    package var peer: String
    package var state: State
    /// The run of the copying that may write to a target.
    package var run: String

    package init(copy: String, target: String, peer: String, state: State, run: String) {
        (self.copy, self.target, self.peer, self.state, self.run) = (copy, target, peer, state, run)
    }

    /// Whether a table is one of those that a copy keeps for itself.
    package static func owns(table: String) -> Bool { table.hasPrefix("store_copy") }

    /// What a table is called while its store has moved away: no statement finds it, of whatever process or build.
    package static func retire(_ table: String) -> String { "moved_" + table }
}

extension Transaction {
    /// Makes the tables that marks lie in.
    package func createCopyMarks() throws {
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

    /// The mark of a role; `nil` where there is none.
    package func copyMark(_ role: CopyMark.Role) throws -> CopyMark? {
        let row = try first(
            "SELECT copy, target, peer, state, run FROM store_copy WHERE role = $1", [.text(role.rawValue)])
        guard let row else { return nil }
        guard let state = CopyMark.State(rawValue: try row.text(3)) else {
            throw StoreError.column(3, expected: "a state of a copy")
        }
        return CopyMark(
            copy: try row.text(0), target: try row.text(1), peer: try row.text(2), state: state, run: try row.text(4))
    }

    /// Sets the mark of a role.
    package func setCopyMark(_ mark: CopyMark, _ role: CopyMark.Role) throws {
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

extension Database {
    /// The store's marks; both `nil` in a store that was never part of a copy.
    ///
    /// - Throws: `StoreError`.
    package func copyMarks() async throws -> (source: CopyMark?, target: CopyMark?) {
        // A store that was never part of a copy has no such table, and a server would log the question for it as an error.
        guard try await tables().contains(where: { $0.name == "store_copy" }) else { return (nil, nil) }
        return try await read { (try $0.copyMark(.source), try $0.copyMark(.target)) }
    }

    /// Whether the store may be worked with.
    ///
    /// - Throws: `StoreError`.
    package func availability() async throws -> StoreAvailability {
        let marks = try await copyMarks()
        if let target = marks.target, target.state == .open { return .unfinished(copyOf: target.peer) }
        if let source = marks.source, source.state == .moved { return .moved(to: source.peer) }
        return .usable
    }

    /// Returns if the store may be worked with.
    ///
    /// - Throws: `StoreError.notUsable`.
    package func requireUsable() async throws {
        let availability = try await availability()
        guard availability == .usable else { throw StoreError.notUsable(availability) }
    }

    /// Puts the store's tables away, in one transaction with a last word: from then on no process can write to them, not
    /// even one that had the store open before.
    ///
    /// - Parameters:
    ///   - mark: what the store is to know of the move.
    ///   - lastWord: writes to the tables while they are still there.
    /// - Throws: `StoreError`, or what the last word throws; then nothing has changed.
    package func retire(
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

    /// Takes a store into use again that had moved, in one transaction with a first word.
    ///
    /// - Parameter firstWord: writes to the tables before anybody else can.
    /// - Returns: where it had moved; `nil` where it had not, and nothing was done.
    /// - Throws: `StoreError`, or what the first word throws; then nothing has changed.
    package func takeBack(
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

/// The schema's history stays where it is: a run that ends the move compares it with its own migrations.
private func isPutAway(_ table: String) -> Bool {
    table != "schema_migrations" && !CopyMark.owns(table: table)
}
