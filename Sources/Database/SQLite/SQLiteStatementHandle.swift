import GRDB
import GRDBSQLite

/// A prepared statement while it is bound and stepped.
struct SQLiteStatementHandle {
    private let statement: Statement
    private let pointer: OpaquePointer

    init(_ sql: String, on connection: GRDB.Database) throws(StoreError) {
        guard connection.sqliteConnection != nil else { throw StoreError.closed }
        do {
            statement = try connection.cachedStatement(sql: sql)
        } catch let error as DatabaseError {
            throw StoreError(sqlite: error.extendedResultCode.rawValue, detail: error.message)
        } catch {
            throw StoreError.statement(reason: "it cannot be prepared")
        }
        pointer = statement.sqliteStatement
    }

    /// Whether the statement is read-only.
    var isReadOnly: Bool { sqlite3_stmt_readonly(pointer) != 0 }

    /// The number of columns of each row.
    var width: Int { Int(sqlite3_column_count(pointer)) }

    /// Binds `$1`, `$2`, …. SQLite numbers such names by their first appearance, so each name is parsed for its
    /// argument's number.
    func bind(_ arguments: [Value]) throws(StoreError) {
        let count = sqlite3_bind_parameter_count(pointer)
        var highest = 0
        for parameter in 0..<count {
            guard let name = sqlite3_bind_parameter_name(pointer, parameter + 1), let number = Self.number(name) else {
                throw StoreError.statement(reason: "a parameter does not have the form $1")
            }
            highest = max(highest, number)
            guard number <= arguments.count else { break }
            try bind(arguments[number - 1], to: parameter + 1)
        }
        guard highest == arguments.count else {
            throw StoreError.statement(reason: "it needs at least \(highest) arguments and got \(arguments.count)")
        }
    }

    /// Advances; `true` if there is a row.
    func step() throws(StoreError) -> Bool {
        let code = sqlite3_step(pointer)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw StoreError(sqlite: code, detail: nil)
        }
    }

    func row() -> Row {
        let count = width
        return Row(
            [Value](unsafeUninitializedCapacity: count) { buffer, initialized in
                for column in 0..<count {
                    buffer.initializeElement(at: column, to: value(Int32(column)))
                }
                initialized = count
            })
    }

    /// Resets the statement for its next use and clears its arguments.
    func reset() {
        sqlite3_reset(pointer)
        sqlite3_clear_bindings(pointer)
    }

    /// The number in a parameter's name; `nil` for any other name.
    private static func number(_ name: UnsafePointer<CChar>) -> Int? {
        guard name[0] == 0x24 else { return nil }
        var number = 0
        var index = 1
        while name[index] != 0 {
            guard (0x30...0x39).contains(name[index]), index <= 5 else { return nil }
            number = number * 10 + Int(name[index] - 0x30)
            index += 1
        }
        return number > 0 ? number : nil
    }

    private func bind(_ value: Value, to parameter: Int32) throws(StoreError) {
        // SQLite copies the bytes (SQLITE_TRANSIENT, a macro that Swift cannot import).
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        let code: Int32
        switch value {
        case .null:
            code = sqlite3_bind_null(pointer, parameter)
        case .integer(let integer):
            code = sqlite3_bind_int64(pointer, parameter, integer)
        case .real(let real):
            guard !real.isNaN else { throw StoreError.statement(reason: "an argument is not a number") }
            code = sqlite3_bind_double(pointer, parameter, real)
        case .text(let text):
            guard !text.utf8.contains(0) else { throw StoreError.statement(reason: "an argument contains U+0000") }
            code = sqlite3_bind_text(pointer, parameter, text, Int32(clamping: text.utf8.count), transient)
        case .bytes(let bytes) where bytes.isEmpty:
            code = sqlite3_bind_zeroblob(pointer, parameter, 0)
        case .bytes(let bytes):
            code = sqlite3_bind_blob(pointer, parameter, bytes, Int32(clamping: bytes.count), transient)
        }
        guard code == SQLITE_OK else { throw StoreError(sqlite: code, detail: nil) }
    }

    private func value(_ column: Int32) -> Value {
        switch sqlite3_column_type(pointer, column) {
        case SQLITE_INTEGER:
            return .integer(sqlite3_column_int64(pointer, column))
        case SQLITE_FLOAT:
            return .real(sqlite3_column_double(pointer, column))
        case SQLITE_TEXT:
            let start = sqlite3_column_text(pointer, column)
            let text = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(pointer, column)))
            return .text(String(decoding: text, as: UTF8.self))
        case SQLITE_BLOB:
            let start = sqlite3_column_blob(pointer, column)
            let bytes = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(pointer, column)))
            return .bytes([UInt8](bytes))
        default:
            return .null
        }
    }
}

extension StoreError {
    static var closed: StoreError { .unavailable(reason: "it is closed") }

    /// SQLite's text for a result code.
    static func sentence(sqlite code: Int32) -> String {
        "\(String(cString: sqlite3_errstr(code))) (SQLite \(code))"
    }

    /// The error for an extended result code of SQLite. The detail is kept only if it is about the statement's own
    /// text.
    init(sqlite code: Int32, detail: String?) {
        let reason = Self.sentence(sqlite: code)
        switch code & 0xff {
        case SQLITE_CONSTRAINT:
            switch code >> 8 {
            case 6, 8, 10: self = .constraint(kind: .unique)
            case 3: self = .constraint(kind: .foreignKey)
            case 5: self = .constraint(kind: .notNull)
            default: self = .constraint(kind: .check)
            }
        case SQLITE_ERROR, SQLITE_MISUSE, SQLITE_RANGE, SQLITE_MISMATCH, SQLITE_TOOBIG, SQLITE_AUTH, SQLITE_READONLY:
            // A read body that writes is a mistake. A file that became read-only or was moved is not.
            if code & 0xff == SQLITE_READONLY, code != SQLITE_READONLY {
                self = .unavailable(reason: reason)
            } else {
                self = .statement(reason: [detail, reason].compactMap(\.self).joined(separator: ": "))
            }
        default:
            self = .unavailable(reason: reason)
        }
    }
}
