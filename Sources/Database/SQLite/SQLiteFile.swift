import Foundation
import GRDB
import GRDBSQLite

/// How connections to one SQLite file are opened: every setting that the guarantees of the store rest on.
struct SQLiteFile {
    /// Absolute, so that SQLite takes it for nothing but the name of a file.
    let path: String
    /// How long a connection waits for another process's lock, in seconds.
    let busyTimeout: TimeInterval

    /// A store that lies in its connection's memory alone, and ends with it.
    static let memory = SQLiteFile(name: ":memory:", busyTimeout: 5)

    private init(name: String, busyTimeout: TimeInterval) {
        (path, self.busyTimeout) = (name, busyTimeout)
    }

    init(path: String, busyTimeout: TimeInterval) {
        self.path = URL(fileURLWithPath: path).standardizedFileURL.path
        self.busyTimeout = busyTimeout
    }

    /// Makes the file where there is none, for its owner alone; SQLite gives the files beside it the same mode.
    func create() throws {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StoreError.unavailable(reason: "\(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        close(descriptor)
    }

    /// Opens the connection that writes, with a write-ahead log that is synchronized at every commit.
    func openWriter() throws -> DatabaseQueue {
        try connect(readOnly: false) { connection in
            guard sqlite3_db_readonly(connection.sqliteConnection, "main") == 0 else {
                throw StoreError.unavailable(reason: "\(self.path) may not be written")
            }
            try self.enableWriteAheadLog(connection)
            // A page that changes often is copied from the log into the file once in 32 MiB, not once in four.
            try connection.perform("PRAGMA wal_autocheckpoint = 8192")
            // One that grew behind a reader is as short again as soon as it begins anew.
            try connection.perform("PRAGMA journal_size_limit = \(Self.logBound)")
            // After everything else that might lower it, and read back: an acknowledged write outlives a power cut.
            try connection.perform("PRAGMA synchronous = FULL")
            guard try connection.setting("PRAGMA synchronous") == 2 else {
                throw StoreError.unavailable(reason: "SQLite does not synchronize its log")
            }
        }
    }

    /// Opens the connection that writes after a commit whose outcome is not known, and commits something of its own: it
    /// takes the place in the log of what the disk refused, which then cannot come back.
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

    /// Opens a connection that cannot write. The writer is opened first and outlives it.
    func openReader() throws -> DatabaseQueue {
        try connect(readOnly: true) { _ in }
    }

    /// Opens a connection with the settings that all share.
    func connect(readOnly: Bool, _ finish: (GRDB.Database) throws -> Void) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = readOnly
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(busyTimeout)
        configuration.label = "countersign.store"
        configuration.prepareDatabase { connection in
            // A damaged or hostile file is found out early and gets no code to run; what is deleted is overwritten.
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

    /// Returns if the file that is open is still the one at its path: what is written to another one is lost.
    ///
    /// - Throws: `StoreError.unavailable`.
    static func requireUnmoved(_ connection: OpaquePointer?) throws(StoreError) {
        guard let connection else { throw StoreError.closed }
        var hasMoved: Int32 = 0
        let code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
        // What lies in memory has no file that could move.
        guard code == SQLITE_OK || code == SQLITE_NOTFOUND, hasMoved == 0 else {
            throw StoreError.unavailable(reason: "its file was moved away or deleted")
        }
    }

    /// Two processes that open a new file at once get in each other's way here, and SQLite does not wait by itself.
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
    /// The number that a `PRAGMA` answers with.
    func setting(_ pragma: String) throws -> Int64 {
        let statement = try SQLiteStatementHandle(pragma, on: self)
        defer { statement.reset() }
        guard try statement.step() else { throw StoreError.statement(reason: "\(pragma) has no answer") }
        return try statement.row().integer(0)
    }
}

extension DatabaseQueue {
    /// Closes the connection after what it has still to do.
    func letGo() throws(StoreError) {
        do {
            try close()
        } catch {
            throw StoreError.unavailable(reason: "SQLite does not close it")
        }
    }
}
