import Foundation

/// The address of a store. Its scheme selects the engine.
package enum StoreURL: Sendable, Equatable {
    /// A SQLite file. A relative path starts at the working directory.
    case sqlite(path: String)
    /// A server that speaks PostgreSQL's protocol, or several, of which one is writable.
    case postgresql(PostgreSQLAddress)
}

package extension StoreURL {
    /// Parses an address such as `sqlite:countersign.db` or `postgresql://host/countersign`.
    ///
    /// - Throws: `StoreError.url` with a sentence that names the supported forms.
    static func parse(_ string: String) throws -> StoreURL {
        if string.hasPrefix("postgresql:") || string.hasPrefix("postgres:") {
            return .postgresql(try PostgreSQLAddress(string))
        }
        let scheme = "sqlite:"
        guard string.hasPrefix(scheme) else {
            throw StoreError.url(reason: "a store's address must be sqlite:PATH or postgresql://HOST/DATABASE")
        }
        let path = String(string.dropFirst(scheme.count))
        guard path != ":memory:" else {
            throw StoreError.url(
                reason: "a store in memory ends with its process, and no other command can use it, not even to add a "
                    + "provider: name a file, such as sqlite:countersign.db")
        }
        guard !path.isEmpty, path.utf8.count <= 4096, !path.utf8.contains(0) else {
            throw StoreError.url(
                reason: "sqlite: must be followed by the path of a file, such as sqlite:countersign.db")
        }
        return .sqlite(path: path)
    }

    /// The address without account and password, for messages and for the record in another store.
    var place: String {
        switch self {
        case .sqlite(let path): "sqlite:\(URL(fileURLWithPath: path).standardizedFileURL.path)"
        case .postgresql(let address): address.place
        }
    }

    /// Opens the store, and creates it if it does not exist.
    ///
    /// - Parameter clock: the clock of an embedded engine.
    /// - Throws: `StoreError.unavailable`.
    func open(clock: @escaping @Sendable () -> Date) throws -> any Database {
        switch self {
        case .sqlite(let path): try SQLiteDatabase(path: path, clock: clock)
        case .postgresql(let address): PostgreSQLDatabase(address)
        }
    }

    /// The file of an embedded store, for ``SQLiteMaintenance``; `nil` for an engine with its own tools.
    var file: String? {
        switch self {
        case .sqlite(let path): path
        case .postgresql: nil
        }
    }
}
