/// The transferred types, by their fixed numbers in the catalogue (`pg_type.dat`), all in binary.
enum PostgreSQLType: UInt32 {
    case bool = 16
    case bytea = 17
    case name = 19
    case bigint = 20
    case smallint = 21
    case integer = 23
    case text = 25
    case real = 700
    case doublePrecision = 701
    case unknown = 705
    case character = 1042
    case characterVarying = 1043

    /// A column's value; `nil` if its length does not fit its type.
    func value(_ bytes: UnsafeRawBufferPointer) -> Value? {
        switch self {
        case .bool: bytes.count == 1 ? .integer(bytes[0] == 0 ? 0 : 1) : nil
        case .bytea: .bytes([UInt8](bytes))
        case .smallint: Self.read(Int16.self, bytes).map { .integer(Int64($0)) }
        case .integer: Self.read(Int32.self, bytes).map { .integer(Int64($0)) }
        case .bigint: Self.read(Int64.self, bytes).map { .integer($0) }
        case .real: Self.read(UInt32.self, bytes).map { .real(Double(Float(bitPattern: $0))) }
        case .doublePrecision: Self.read(UInt64.self, bytes).map { .real(Double(bitPattern: $0)) }
        case .name, .text, .unknown, .character, .characterVarying: .text(String(decoding: bytes, as: UTF8.self))
        }
    }

    private static func read<T: FixedWidthInteger>(_: T.Type, _ bytes: UnsafeRawBufferPointer) -> T? {
        guard bytes.count == MemoryLayout<T>.size else { return nil }
        return T(bigEndian: bytes.loadUnaligned(as: T.self))
    }
}

/// The arguments of one statement in libpq's form.
struct PostgreSQLArguments {
    /// The type of each; 0 for null, so that the server infers it.
    let types: [UInt32]
    /// The length of each in bytes.
    let lengths: [Int32]
    let formats: [Int32]
    private let offsets: [Int?]
    private let bytes: [UInt8]

    /// - Throws: `StoreError.statement` for values that cannot be stored.
    init(_ values: [Value]) throws(StoreError) {
        var (types, lengths, offsets, bytes) = ([UInt32](), [Int32](), [Int?](), [UInt8]())
        for value in values {
            let start = bytes.count
            offsets.append(value == .null ? nil : start)
            switch value {
            case .null:
                types.append(0)
            case .integer(let integer):
                types.append(PostgreSQLType.bigint.rawValue)
                withUnsafeBytes(of: integer.bigEndian) { bytes.append(contentsOf: $0) }
            case .real(let real):
                guard !real.isNaN else { throw .statement(reason: "an argument is not a number") }
                types.append(PostgreSQLType.doublePrecision.rawValue)
                withUnsafeBytes(of: real.bitPattern.bigEndian) { bytes.append(contentsOf: $0) }
            case .text(let text):
                guard !text.utf8.contains(0) else { throw .statement(reason: "an argument contains U+0000") }
                types.append(PostgreSQLType.text.rawValue)
                bytes.append(contentsOf: text.utf8)
            case .bytes(let value):
                types.append(PostgreSQLType.bytea.rawValue)
                bytes.append(contentsOf: value)
            }
            lengths.append(Int32(clamping: bytes.count - start))
        }
        // An empty value needs an address too: libpq treats a null pointer as null.
        bytes.append(0)
        (self.types, self.lengths, self.offsets, self.bytes) = (types, lengths, offsets, bytes)
        formats = Array(repeating: 1, count: values.count)
    }

    /// Calls a body with a pointer to each argument. The pointers are valid only during the call.
    func withPointers<T>(_ body: ([UnsafePointer<CChar>?]) -> T) -> T {
        bytes.withUnsafeBytes { buffer in
            let base = buffer.bindMemory(to: CChar.self).baseAddress
            return body(offsets.map { offset in offset.flatMap { base?.advanced(by: $0) } })
        }
    }
}
