import Foundation
import GRDB
import GRDBSQLite

/// Operations on a SQLite store's file as a whole: online backup, examination and replacement. Each call blocks its
/// thread.
package struct SQLiteMaintenance: Sendable {
    private let file: SQLiteFile
}

package extension SQLiteMaintenance {
    var path: String { file.path }

    /// - Throws: `StoreError.unavailable` if the file does not exist. Nothing here creates a store.
    init(path: String, busyTimeout: TimeInterval = 5) throws {
        file = SQLiteFile(path: path, busyTimeout: busyTimeout)
        guard access(file.path, R_OK | W_OK) == 0 else {
            throw StoreError.unavailable(reason: "\(file.path) cannot be opened: \(String(cString: strerror(errno)))")
        }
    }

    /// The size of the file and its log in bytes.
    func size() -> Int64 {
        ["", "-wal"].reduce(0) { sum, suffix in
            let attributes = try? FileManager.default.attributesOfItem(atPath: file.path + suffix)
            return sum + ((attributes?[.size] as? Int64) ?? (attributes?[.size] as? Int).map(Int64.init) ?? 0)
        }
    }

    /// Copies the current state of the store into a new file (mode 0600), by SQLite's online backup. Writers do not
    /// wait. The copy is either complete or absent.
    ///
    /// - Parameters:
    ///   - destination: a path that does not exist.
    ///   - progress: receives the number of copied pages and of all pages.
    /// - Throws: `StoreError.unavailable`.
    func backup(to destination: String, progress: @escaping (Int, Int) -> Void = { _, _ in }) throws {
        let target = SQLiteFile(path: destination, busyTimeout: file.busyTimeout)
        guard access(target.path, F_OK) != 0 else {
            throw StoreError.unavailable(reason: "\(target.path) exists already")
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
                reason: "\(target.path) cannot be created: \(String(cString: strerror(errno)))")
        }
        try Self.synchronize(Self.directory(of: target.path))
    }

    /// Defects that SQLite finds in the file: in its pages, indexes and constraints, and rows that reference missing
    /// rows. No line contains a value of a row.
    ///
    /// - Throws: `StoreError.unavailable` if the file cannot be opened.
    func inspect() throws -> [String] {
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
                    defects.append("rows of \(try row.text(0)) that reference missing rows: \(try row.integer(1))")
                }
                return defects
            } catch {
                return ["\(error)"]
            }
        }
    }

    /// Reads the file as it is, without the write-ahead log that a store in use has.
    ///
    /// - Throws: what the body throws, or a `StoreError`.
    func read<T>(now: Date, _ body: (any Transaction) throws -> T) throws -> T {
        let queue = try file.connect(readOnly: false) { _ in }
        defer { try? queue.close() }
        return try queue.inDatabase { try SQLiteTransaction($0, now: now, requiresReading: true).run(body) }
    }

    /// Replaces this store's file by another one in one step, and keeps this one under a new name. No process may have
    /// either file open.
    ///
    /// - Parameters:
    ///   - replacement: a file in the same directory. It is renamed.
    ///   - kept: the new name of the current file; it must not exist.
    /// - Throws: `StoreError.unavailable`, also if another process has the store open. Then nothing has changed.
    func replace(by replacement: String, keeping kept: String) throws {
        let other = SQLiteFile(path: replacement, busyTimeout: file.busyTimeout)
        try other.closeLog()
        let queue = try file.exclusive()
        defer { try? queue.close() }
        try Self.synchronize(other.path)
        // The current file gets its second name first, so a store exists at every moment.
        guard link(file.path, kept) == 0, rename(other.path, file.path) == 0 else {
            throw StoreError.unavailable(
                reason: "\(kept) cannot be created: \(String(cString: strerror(errno)))")
        }
        try Self.synchronize(Self.directory(of: file.path))
    }

    /// Renames the store's file to a name that does not exist.
    ///
    /// - Throws: `StoreError.unavailable`.
    func move(to destination: String) throws {
        let target = SQLiteFile(path: destination, busyTimeout: file.busyTimeout)
        try file.closeLog()
        try Self.synchronize(file.path)
        guard link(file.path, target.path) == 0, unlink(file.path) == 0 else {
            throw StoreError.unavailable(
                reason: "\(target.path) cannot be created: \(String(cString: strerror(errno)))")
        }
        try Self.synchronize(Self.directory(of: target.path))
    }

    /// Returns if no other process has the store open.
    ///
    /// - Throws: `StoreError.unavailable`.
    func requireUnused() throws {
        try file.exclusive().close()
    }

    private func copy(into draft: SQLiteFile, _ progress: @escaping (Int, Int) -> Void) throws {
        let source = try file.connect(readOnly: false) { _ in }
        defer { try? source.close() }
        let target = try draft.connect(readOnly: false) { _ in }
        defer { try? target.close() }
        do {
            try source.writeWithoutTransaction { from in
                // One snapshot, so commits meanwhile do not restart the copy.
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
    /// Copies the log into the file, so that the file alone is the whole store.
    func closeLog() throws {
        let queue = try exclusive()
        try queue.letGo()
    }

    /// An exclusive connection without a log.
    ///
    /// - Throws: `StoreError.unavailable` if another process has the file open.
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
    /// The first column of a statement's rows, as texts.
    func texts(_ sql: String) throws -> [String] {
        let statement = try SQLiteStatementHandle(sql, on: self)
        defer { statement.reset() }
        var texts: [String] = []
        while try statement.step() { texts.append(try statement.row().text(0)) }
        return texts
    }
}
