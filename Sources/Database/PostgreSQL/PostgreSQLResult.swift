import CPostgreSQL

/// One result of libpq, which is freed with it.
struct PostgreSQLResult: ~Copyable {
    private let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        PQclear(pointer)
    }

    var isSuccess: Bool {
        let status = PQresultStatus(pointer)
        return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK
    }

    var isEmptyStatement: Bool { PQresultStatus(pointer) == PGRES_EMPTY_QUERY }

    /// The executed command, such as `COMMIT` or `INSERT 0 1`.
    var command: String { String(cString: PQcmdStatus(pointer)) }

    /// The number of rows that the statement itself inserted, updated or deleted.
    var changedRows: Int {
        guard ["INSERT", "UPDATE", "DELETE"].contains(where: command.hasPrefix) else { return 0 }
        return Int(String(cString: PQcmdTuples(pointer))) ?? 0
    }

    var count: Int { Int(PQntuples(pointer)) }

    func text(of field: (OpaquePointer?) -> UnsafePointer<CChar>?) -> String? {
        field(pointer).map { String(cString: $0) }
    }

    /// All rows, or why one cannot be read.
    var rows: Result<[Row], StoreError> {
        var rows: [Row] = []
        do throws(StoreError) {
            for index in 0..<count { rows.append(try row(index)) }
        } catch {
            return .failure(error)
        }
        return .success(rows)
    }

    /// A row in binary format.
    ///
    /// - Throws: `StoreError.statement` for a type outside the common subset.
    func row(_ index: Int) throws(StoreError) -> Row {
        let (row, count) = (Int32(index), PQnfields(pointer))
        var values: [Value] = []
        values.reserveCapacity(Int(count))
        for column in 0..<count {
            guard PQgetisnull(pointer, row, column) == 0 else {
                values.append(.null)
                continue
            }
            let bytes = UnsafeRawBufferPointer(
                start: PQgetvalue(pointer, row, column), count: Int(PQgetlength(pointer, row, column)))
            guard let value = PostgreSQLType(rawValue: PQftype(pointer, column))?.value(bytes) else {
                throw .statement(reason: "column \(column) has a type outside the common subset")
            }
            values.append(value)
        }
        return Row(values)
    }
}
