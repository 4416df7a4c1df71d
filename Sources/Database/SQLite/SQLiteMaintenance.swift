import Foundation
import GRDB
import GRDBSQLite

/// What is done to a SQLite store's file as a whole: copying it while it is in use, examining it, putting another file
/// in its place. Each of these blocks the thread that it is called on.
package struct SQLiteMaintenance: Sendable {
    private let file: SQLiteFile

    package var path: String { file.path }

    /// Looks after the file at a path.
    ///
    /// - Throws: `StoreError.unavailable` where there is none: nothing here makes a store.
    package init(path: String, busyTimeout: TimeInterval = 5) throws {
        file = SQLiteFile(path: path, busyTimeout: busyTimeout)
        guard access(file.path, R_OK | W_OK) == 0 else {
            throw StoreError.unavailable(reason: "\(file.path) cannot be opened: \(String(cString: strerror(errno)))")
        }
    }

    /// How many bytes the file and its log take.
    package func size() -> Int64 {
        ["", "-wal"].reduce(0) { sum, suffix in
            let attributes = try? FileManager.default.attributesOfItem(atPath: file.path + suffix)
            return sum + ((attributes?[.size] as? Int64) ?? (attributes?[.size] as? Int).map(Int64.init) ?? 0)
        }
    }

    /// Copies the store as it is at this moment into a new file (mode 0600), by SQLite's online backup: writers are not
    /// held up, and the copy is whole or not there.
    ///
    /// - Parameters:
    ///   - destination: a path where nothing is.
    ///   - progress: told how many pages are copied, of how many.
    /// - Throws: `StoreError.unavailable`.
    package func backup(to destination: String, progress: @escaping (Int, Int) -> Void = { _, _ in }) throws {
        let target = SQLiteFile(path: destination, busyTimeout: file.busyTimeout)
        guard access(target.path, F_OK) != 0 else {
            throw StoreError.unavailable(reason: "\(target.path) is there already")
        }
        let draft = SQLiteFile(path: "\(target.path).\(UInt64.random(in: 1...UInt64.max)).new", busyTimeout: 5)
        do {
            try draft.create()
        } catch {
            throw StoreError.unavailable(reason: String(cString: strerror(errno)))
        }
        defer { for suffix in ["", "-wal", "-shm", "-journal"] { unlink(draft.path + suffix) } }
        try copy(into: draft, progress)
        try Self.synchronize(draft.path)
        guard link(draft.path, target.path) == 0 else {
            throw StoreError.unavailable(
                reason: "\(target.path) cannot be made: \(String(cString: strerror(errno)))")
        }
        try Self.synchronize(Self.directory(of: target.path))
    }

    /// What SQLite finds wrong with the file: its pages and indexes, its constraints, rows that name others which are
    /// not there. No line holds what a row holds.
    ///
    /// - Throws: `StoreError.unavailable` where the file cannot even be opened.
    package func inspect() throws -> [String] {
        let queue = try file.connect(readOnly: false) { _ in }
        defer { try? queue.close() }
        return queue.inDatabase { connection in
            do {
                var defects = try connection.texts("PRAGMA integrity_check(20)").filter { $0 != "ok" }
                let dangling = "SELECT \"table\", count(*) FROM pragma_foreign_key_check GROUP BY 1"
                let statement = try SQLiteStatementHandle(dangling, on: connection)
                defer { statement.reset() }
                while try statement.step() {
                    let row = statement.row()
                    defects.append("\(try row.integer(1)) rows of \(try row.text(0)) name rows that are not there")
                }
                return defects
            } catch {
                return ["\(error)"]
            }
        }
    }

    /// Puts another store's file in the place of this one, in one step, and keeps this one under a new name. Nobody may
    /// have either open.
    ///
    /// - Parameters:
    ///   - replacement: a file in the same directory; it is gone from its place afterwards.
    ///   - kept: the new name of the present file, where nothing is.
    /// - Throws: `StoreError.unavailable`, where another process has the store open too; nothing has changed then.
    package func replace(by replacement: String, keeping kept: String) throws {
        let other = SQLiteFile(path: replacement, busyTimeout: file.busyTimeout)
        try other.closeLog()
        let queue = try file.exclusive()
        defer { try? queue.close() }
        try Self.synchronize(other.path)
        // The present file gets its second name before it loses its first: a store is there at every moment.
        guard link(file.path, kept) == 0, rename(other.path, file.path) == 0 else {
            throw StoreError.unavailable(
                reason: "\(kept) cannot be made: \(String(cString: strerror(errno)))")
        }
        try Self.synchronize(Self.directory(of: file.path))
    }

    /// Gives the store's file its name, where nothing is yet.
    ///
    /// - Throws: `StoreError.unavailable`.
    package func move(to destination: String) throws {
        let target = SQLiteFile(path: destination, busyTimeout: file.busyTimeout)
        try file.closeLog()
        try Self.synchronize(file.path)
        guard link(file.path, target.path) == 0, unlink(file.path) == 0 else {
            throw StoreError.unavailable(
                reason: "\(target.path) cannot be made: \(String(cString: strerror(errno)))")
        }
        try Self.synchronize(Self.directory(of: target.path))
    }

    /// Returns if nobody else has the store open.
    ///
    /// - Throws: `StoreError.unavailable`.
    package func requireUnused() throws {
        try file.exclusive().close()
    }

    private func copy(into draft: SQLiteFile, _ progress: @escaping (Int, Int) -> Void) throws {
        let source = try file.connect(readOnly: false) { _ in }
        defer { try? source.close() }
        let target = try draft.connect(readOnly: false) { _ in }
        defer { try? target.close() }
        do {
            try source.writeWithoutTransaction { from in
                // One snapshot throughout: what is committed meanwhile does not begin the copy anew.
                try from.perform("BEGIN")
                defer { try? from.perform("ROLLBACK") }
                _ = try from.setting("SELECT count(*) FROM sqlite_schema")
                try target.writeWithoutTransaction { into in
                    try from.backup(to: into, pagesPerStep: 512) { step in
                        progress(step.completedPageCount, step.totalPageCount)
                    }
                }
            }
        } catch let error as DatabaseError {
            throw StoreError.unavailable(reason: StoreError.sentence(sqlite: error.extendedResultCode.rawValue))
        }
        try target.close()
        try draft.closeLog()
    }

    private static func directory(of path: String) -> String {
        (path as NSString).deletingLastPathComponent
    }

    private static func synchronize(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        guard descriptor >= 0, fsync(descriptor) == 0 else {
            throw StoreError.unavailable(reason: "\(path) cannot be written to the disk")
        }
    }
}

extension SQLiteFile {
    /// Takes the log into the file, so that the file alone is the whole store.
    func closeLog() throws {
        let queue = try exclusive()
        try queue.letGo()
    }

    /// A connection that has the file to itself, without a log.
    ///
    /// - Throws: `StoreError.unavailable` where somebody else has it open.
    func exclusive() throws -> DatabaseQueue {
        do {
            return try connect(readOnly: false) { connection in
                try connection.perform("PRAGMA locking_mode = EXCLUSIVE")
                guard try connection.texts("PRAGMA journal_mode = DELETE") == ["delete"] else {
                    throw StoreError.unavailable(reason: "another process has it open")
                }
                try connection.perform("BEGIN EXCLUSIVE")
                try connection.perform("COMMIT")
            }
        } catch StoreError.unavailable {
            throw StoreError.unavailable(reason: "\(path) is in use by another process, or cannot be written")
        }
    }
}

extension GRDB.Database {
    /// The first column of a statement's rows, texts all of them.
    func texts(_ sql: String) throws -> [String] {
        let statement = try SQLiteStatementHandle(sql, on: self)
        defer { statement.reset() }
        var texts: [String] = []
        while try statement.step() { texts.append(try statement.row().text(0)) }
        return texts
    }
}
