import Foundation
import GRDB
import GRDBSQLite

/// Opens connections to a SQLite file, with the settings that the store's guarantees depend on.
struct SQLiteFile {
    /// An absolute path, so SQLite never interprets it as anything else.
    let path: String
    /// How long a connection waits for another process's lock, in seconds.
    let busyTimeout: TimeInterval

    /// A store in the memory of one connection.
    static let memory = SQLiteFile(name: ":memory:", busyTimeout: 5)

    private init(name: String, busyTimeout: TimeInterval) {
        (path, self.busyTimeout) = (name, busyTimeout)
    }

    init(path: String, busyTimeout: TimeInterval) {
        self.path = URL(fileURLWithPath: path).standardizedFileURL.path
        self.busyTimeout = busyTimeout
    }

    /// Creates the file if it does not exist, with mode 0600. SQLite gives the files beside it the mode of the file.
    func create() throws {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StoreError.unavailable(reason: "\(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        close(descriptor)
    }

    /// Opens the writing connection, with a write-ahead log that is synchronized at every commit.
    func openWriter() throws -> DatabaseQueue {
        try connect(readOnly: false) { connection in
            guard sqlite3_db_readonly(connection.sqliteConnection, "main") == 0 else {
                throw StoreError.unavailable(reason: "\(self.path) is not writable")
            }
            try self.enableWriteAheadLog(connection)
            // A page that changes often is copied into the file once in 32 MiB instead of once in four.
            try connection.perform("PRAGMA wal_autocheckpoint = 8192")
            // A writer's savepoint keeps the former pages in memory, and not in a file elsewhere. Beyond 64 KiB SQLite would
            // write each page that a batch changes to that file.
            try connection.perform("PRAGMA temp_store = MEMORY")
            // A log that grew because of a reader is truncated when it restarts.
            try connection.perform("PRAGMA journal_size_limit = \(Self.logBound)")
            // Set last and read back, because other settings might lower it: an acknowledged write survives a power
            // failure.
            try connection.perform("PRAGMA synchronous = FULL")
            guard try connection.setting("PRAGMA synchronous") == 2 else {
                throw StoreError.unavailable(reason: "SQLite does not synchronize its log")
            }
        }
    }

    /// Opens the writing connection again after a commit with an unknown outcome, and commits a change of its own. That
    /// change replaces the refused one in the log, which then cannot reappear.
    func reopenWriter() throws -> DatabaseQueue {
        let queue = try openWriter()
        do {
            try queue.writeWithoutTransaction { connection in
                try connection.perform("BEGIN IMMEDIATE")
                let version = try connection.setting("PRAGMA user_version")
                try connection.perform("PRAGMA user_version = \(version)")
                try connection.perform("COMMIT")
            }
        } catch {
            try? queue.letGo()
            throw error
        }
        return queue
    }

    /// Opens a read-only connection. The writer is opened first and closed last.
    func openReader() throws -> DatabaseQueue {
        try connect(readOnly: true) { _ in }
    }

    /// Opens a connection with the common settings.
    func connect(readOnly: Bool, _ finish: (GRDB.Database) throws -> Void) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = readOnly
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(busyTimeout)
        configuration.label = "countersign.store"
        configuration.prepareDatabase { connection in
            // A damaged or hostile file is detected early and cannot run code. Deleted content is overwritten.
            for setting in ["cell_size_check = ON", "trusted_schema = OFF", "secure_delete = ON"] {
                try connection.perform("PRAGMA \(setting)")
            }
        }
        do {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try queue.writeWithoutTransaction(finish)
            return queue
        } catch let error as DatabaseError {
            throw StoreError.unavailable(reason: StoreError.sentence(sqlite: error.extendedResultCode.rawValue))
        }
    }

    /// Returns if the path still names the opened file: writes to a moved file would be lost.
    ///
    /// - Throws: `StoreError.unavailable`.
    static func requireUnmoved(_ connection: OpaquePointer?) throws(StoreError) {
        guard let connection else { throw StoreError.closed }
        var hasMoved: Int32 = 0
        let code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
        // A store in memory has no file.
        guard code == SQLITE_OK || code == SQLITE_NOTFOUND, hasMoved == 0 else {
            throw StoreError.unavailable(reason: "its file was moved or deleted")
        }
    }

    /// Two processes that open a new file at once conflict here, and SQLite does not wait by itself.
    private func enableWriteAheadLog(_ connection: GRDB.Database) throws {
        let pause: TimeInterval = 0.05
        var attempts = Int(busyTimeout / pause)
        while true {
            do {
                let statement = try SQLiteStatementHandle("PRAGMA journal_mode = WAL", on: connection)
                defer { statement.reset() }
                guard try statement.step(), try statement.row().text(0) == "wal" else {
                    throw StoreError.unavailable(reason: "SQLite cannot keep a write-ahead log here")
                }
                return
            } catch StoreError.unavailable(_) where attempts > 0 && connection.lastErrorCode == .SQLITE_BUSY {
                attempts -= 1
                Thread.sleep(forTimeInterval: pause)
            }
        }
    }
}

extension GRDB.Database {
    /// The numeric value of a `PRAGMA`.
    func setting(_ pragma: String) throws -> Int64 {
        let statement = try SQLiteStatementHandle(pragma, on: self)
        defer { statement.reset() }
        guard try statement.step() else { throw StoreError.statement(reason: "\(pragma) returned nothing") }
        return try statement.row().integer(0)
    }
}

extension DatabaseQueue {
    /// Closes the connection after its pending statements.
    func letGo() throws(StoreError) {
        do {
            try close()
        } catch {
            throw StoreError.unavailable(reason: "SQLite cannot close it")
        }
    }
}
