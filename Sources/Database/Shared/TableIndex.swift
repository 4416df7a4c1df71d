import Foundation

/// An index that is made while others read and write its table.
package struct TableIndex: Sendable {
    package let name: String
    let table: String
    let definition: String
    let isUnique: Bool

    /// Describes an index.
    ///
    /// - Parameter definition: what stands behind the table's name, such as `(user_id) WHERE ended_at IS NULL`.
    package init(_ name: String, on table: String, _ definition: String, isUnique: Bool = false) {
        (self.name, self.table, self.definition, self.isUnique) = (name, table, definition, isUnique)
    }

    /// What makes it where it is not there.
    var statement: String { statement("") }

    func statement(_ manner: String) -> String {
        "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(manner)IF NOT EXISTS \(name) ON \(table) \(definition)"
    }
}
