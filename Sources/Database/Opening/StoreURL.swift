import Foundation

/// Where a store is: the scheme names the engine.
package enum StoreURL: Sendable, Equatable {
    /// A SQLite file; a relative path counts from the working directory.
    case sqlite(path: String)
    /// A server that speaks PostgreSQL's protocol, or several of which one takes writes.
    case postgresql(PostgreSQLAddress)

    /// Reads an address such as `sqlite:countersign.db` or `postgresql://host/countersign`.
    ///
    /// - Throws: `StoreError.url` with a sentence that names what is supported.
    package static func parse(_ string: String) throws -> StoreURL {
        if string.hasPrefix("postgresql:") || string.hasPrefix("postgres:") {
            return .postgresql(try PostgreSQLAddress(string))
        }
        let scheme = "sqlite:"
        guard string.hasPrefix(scheme) else {
            throw StoreError.url(reason: "a store is given as sqlite:PATH or postgresql://HOST/DATABASE")
        }
        let path = String(string.dropFirst(scheme.count))
        guard path != ":memory:" else {
            throw StoreError.url(
                reason: "a store in memory ends with its process, and no command can reach it, not even to add a "
                    + "provider: give a file, such as sqlite:countersign.db")
        }
        guard !path.isEmpty, path.utf8.count <= 4096, !path.utf8.contains(0) else {
            throw StoreError.url(reason: "sqlite: is followed by the path of a file, such as sqlite:countersign.db")
        }
        return .sqlite(path: path)
    }

    /// Where the store is, without account and password: for people, and for what other stores keep of this one.
    package var place: String {
        switch self {
        case .sqlite(let path): "sqlite:\(URL(fileURLWithPath: path).standardizedFileURL.path)"
        case .postgresql(let address): address.place
        }
    }

    /// Opens the store, and makes it where there is none.
    ///
    /// - Parameter clock: what an embedded engine takes the time from.
    /// - Throws: `StoreError.unavailable`.
    package func open(clock: @escaping @Sendable () -> Date) throws -> any Database {
        switch self {
        case .sqlite(let path): try SQLiteDatabase(path: path, clock: clock)
        case .postgresql(let address): PostgreSQLDatabase(address)
        }
    }
}

extension StoreURL {
    /// The file of an embedded store, for ``SQLiteMaintenance``; `nil` for an engine that has tools of its own.
    package var file: String? {
        switch self {
        case .sqlite(let path): path
        case .postgresql: nil
        }
    }
}
