/// A table as the engine's catalogue describes it, for copying a store.
package struct TableShape: Sendable, Equatable {
    package let name: String
    package let columns: [String]
    /// The columns of its primary key, in the key's order.
    package let key: [String]
    /// The tables that its rows reference, except itself.
    package let references: Set<String>
    /// The engine's estimate of its number of rows.
    package let estimatedRows: Int64

    package init(name: String, columns: [String], key: [String], references: Set<String>, estimatedRows: Int64) {
        self.name = name
        self.columns = columns
        self.key = key
        self.references = references
        self.estimatedRows = estimatedRows
    }

    /// One row for each column (table, column, position in the primary key from 1, or 0), and one for each reference
    /// (from, to).
    static func list(
        columns: [Row], references: [Row], estimate: (String) throws -> Int64
    ) throws -> [TableShape] {
        var targets: [String: Set<String>] = [:]
        for row in references where try row.text(0) != row.text(1) {
            targets[try row.text(0), default: []].insert(try row.text(1))
        }
        var (names, found): ([String], [String: [(name: String, place: Int64)]]) = ([], [:])
        for row in columns {
            let table = try row.text(0)
            if isOfChangeLog(table) { continue }
            if found[table] == nil { names.append(table) }
            found[table, default: []].append((try row.text(1), try row.integer(2)))
        }
        let shapes = try names.map { name in
            let columns = found[name] ?? []
            return TableShape(
                name: name, columns: columns.map(\.name),
                key: columns.filter { $0.place > 0 }.sorted { $0.place < $1.place }.map(\.name),
                references: targets[name] ?? [], estimatedRows: try estimate(name))
        }
        return try ordered(shapes)
    }

    /// Orders each table after those that it references, otherwise by name.
    private static func ordered(_ shapes: [TableShape]) throws -> [TableShape] {
        var (waiting, ordered) = (shapes.sorted { $0.name < $1.name }, [TableShape]())
        while !waiting.isEmpty {
            let names = Set(waiting.map(\.name))
            guard let next = waiting.firstIndex(where: { $0.references.isDisjoint(with: names) }) else {
                throw StoreError.statement(reason: "tables reference each other in a cycle")
            }
            ordered.append(waiting.remove(at: next))
        }
        return ordered
    }
}
