/// A table as the engine's own catalogue describes it: what a copy of a store goes by.
package struct TableShape: Sendable, Equatable {
    package let name: String
    /// Its columns, in its own order.
    package let columns: [String]
    /// The columns of its primary key, in the key's order.
    package let key: [String]
    /// The tables that its rows refer to, itself left out.
    package let references: Set<String>
    /// About how many rows it has, as far as the engine knows without counting.
    package let estimatedRows: Int64

    package init(name: String, columns: [String], key: [String], references: Set<String>, estimatedRows: Int64) {
        self.name = name
        self.columns = columns
        self.key = key
        self.references = references
        self.estimatedRows = estimatedRows
    }

    /// One row a column (table, column, place in the primary key from 1 on, else 0), and one a reference (from, to).
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

    /// Each table behind those that it refers to; by name where that leaves a choice.
    private static func ordered(_ shapes: [TableShape]) throws -> [TableShape] {
        var (waiting, ordered) = (shapes.sorted { $0.name < $1.name }, [TableShape]())
        while !waiting.isEmpty {
            let names = Set(waiting.map(\.name))
            guard let next = waiting.firstIndex(where: { $0.references.isDisjoint(with: names) }) else {
                throw StoreError.statement(reason: "tables refer to one another in a circle")
            }
            ordered.append(waiting.remove(at: next))
        }
        return ordered
    }
}
