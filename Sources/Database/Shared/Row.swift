/// One row of a result. Columns are read by their position in the statement, from 0, and exactly by their type.
///
/// Every getter throws `StoreError.column` if the column is missing or has another type. It also throws for null,
/// unless the getter's name ends in `OrNull`.
package struct Row: Sendable, Equatable {
    /// The columns from left to right.
    package let values: [Value]
}

package extension Row {
    init(_ values: [Value]) {
        self.values = values
    }

    func value(_ index: Int) throws -> Value {
        guard values.indices.contains(index) else { throw StoreError.column(index, expected: "a column") }
        return values[index]
    }

    /// A `BIGINT` or `INTEGER` column.
    func integer(_ index: Int) throws -> Int64 {
        guard case .integer(let integer) = try value(index) else {
            throw StoreError.column(index, expected: "an integer")
        }
        return integer
    }

    /// A `BIGINT` or `INTEGER` column that may be null.
    func integerOrNull(_ index: Int) throws -> Int64? {
        try value(index) == .null ? nil : integer(index)
    }

    func real(_ index: Int) throws -> Double {
        guard case .real(let real) = try value(index) else {
            throw StoreError.column(index, expected: "a number with a fraction")
        }
        return real
    }

    func text(_ index: Int) throws -> String {
        guard case .text(let text) = try value(index) else { throw StoreError.column(index, expected: "a text") }
        return text
    }

    /// A `TEXT` column that may be null.
    func textOrNull(_ index: Int) throws -> String? {
        try value(index) == .null ? nil : text(index)
    }

    func bytes(_ index: Int) throws -> [UInt8] {
        guard case .bytes(let bytes) = try value(index) else { throw StoreError.column(index, expected: "bytes") }
        return bytes
    }

    /// A `BYTEA` column that may be null.
    func bytesOrNull(_ index: Int) throws -> [UInt8]? {
        try value(index) == .null ? nil : bytes(index)
    }

    /// An `INTEGER` column that is 0 or 1.
    func bool(_ index: Int) throws -> Bool {
        switch try value(index) {
        case .integer(0): return false
        case .integer(1): return true
        default: throw StoreError.column(index, expected: "0 or 1")
        }
    }
}
