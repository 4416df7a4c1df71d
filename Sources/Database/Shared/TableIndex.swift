import Foundation

/// An index that is built while its table is in use.
package struct TableIndex: Sendable {
    let name: String
    let table: String
    let definition: String
    let isUnique: Bool

    /// - Parameter definition: the part after the table's name, such as `(user_id) WHERE ended_at IS NULL`.
    package init(_ name: String, on table: String, _ definition: String, isUnique: Bool = false) {
        (self.name, self.table, self.definition, self.isUnique) = (name, table, definition, isUnique)
    }

    /// The statement that creates it if it does not exist.
    var statement: String { statement("") }

    func statement(_ manner: String) -> String {
        "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(manner)IF NOT EXISTS \(name) ON \(table) \(definition)"
    }
}
