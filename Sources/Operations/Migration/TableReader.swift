import Database

/// Reads a table of one store by its primary key: page by page, or the rows with given keys. Each page is a separate
/// transaction, so that it delays no writer, and its size is limited.
struct TableReader: Sendable {
    /// The maximum number of rows in a page.
    static let rowLimit = 500
    /// The approximate maximum of bytes in a page.
    private static let byteLimit = 1 << 20

    let store: any Database
    let shape: TableShape
    /// Whether the store's tables were retired.
    let isPutAway: Bool

    private var table: String { "\"\(isPutAway ? CopyMark.retire(shape.name) : shape.name)\"" }
    private var columns: String { Self.list(shape.columns) }

    static func list(_ names: [String], of table: String = "") -> String {
        names.map { "\(table)\"\($0)\"" }.joined(separator: ", ")
    }

    /// The position of a page, and the size of the next one.
    struct Cursor: Sendable {
        /// The key after which the next page starts; `nil` at the beginning of the table.
        var key: [Value]?
        fileprivate var limit = 16
        /// Whether the end of the table was reached.
        fileprivate(set) var isAtEnd = false

        init(key: [Value]? = nil) { self.key = key }
    }

    /// A row and its key.
    struct Entry: Sendable {
        let key: [Value]
        let values: [Value]
        var encoded: EncodedRow { EncodedRow(values) }
    }

    /// The next rows in the order of the key; empty at the end.
    func page(_ cursor: inout Cursor) async throws -> [Entry] {
        guard !cursor.isAtEnd else { return [] }
        let (key, limit) = (cursor.key, cursor.limit)
        let behind = key.map { _ in
            let places = (1...shape.key.count).map { "$\($0)" }.joined(separator: ", ")
            return "WHERE (\(Self.list(shape.key))) > (\(places))"
        }
        let sql = """
            SELECT \(columns) FROM \(table) \(behind ?? "")
            ORDER BY \(Self.list(shape.key)) LIMIT $\((key?.count ?? 0) + 1)
            """
        let entries = try await entries(sql, (key ?? []) + [Value(limit)])
        cursor.isAtEnd = entries.count < limit
        cursor.key = entries.last?.key ?? key
        let bytes = entries.reduce(0) { $0 + $1.encoded.bytes.count }
        if bytes > Self.byteLimit {
            cursor.limit = max(1, limit / 2)
        } else if bytes < Self.byteLimit / 2 {
            cursor.limit = min(Self.rowLimit, limit * 2)
        }
        return entries
    }

    /// The rows with these keys, by the encoded keys.
    func rows(_ keys: [[Value]]) async throws -> [EncodedRow: EncodedRow] {
        guard !keys.isEmpty else { return [:] }
        let width = shape.key.count
        let places = keys.indices.map { index in
            "(" + (1...width).map { "$\(index * width + $0)" }.joined(separator: ", ") + ")"
        }
        let same = shape.key.enumerated().map { "t.\"\($1)\" = k.column\($0 + 1)" }
        // The keys are selected first. Otherwise an engine might scan the whole table for each page.
        let sql = """
            SELECT \(Self.list(shape.columns, of: "t.")) FROM (VALUES \(places.joined(separator: ", "))) AS k
            CROSS JOIN \(table) AS t WHERE \(same.joined(separator: " AND "))
            """
        return try await entries(sql, keys.flatMap(\.self)).reduce(into: [:]) { rows, entry in
            rows[EncodedRow(entry.key)] = entry.encoded
        }
    }

    /// Computes the digest of the whole table.
    func digest(_ progress: @escaping @Sendable (Int) -> Void) async throws -> TableDigest {
        var digest = TableDigest()
        var cursor = Cursor()
        while !cursor.isAtEnd {
            let entries = try await page(&cursor)
            for entry in entries { digest.add(entry.encoded) }
            progress(entries.count)
        }
        return digest
    }

    private func entries(_ sql: String, _ arguments: [Value]) async throws -> [Entry] {
        let places = shape.key.compactMap { shape.columns.firstIndex(of: $0) }
        return try await store.snapshot { transaction in
            try transaction.query(sql, arguments).map { row in
                Entry(key: try places.map { try row.value($0) }, values: row.values)
            }
        }
    }
}
