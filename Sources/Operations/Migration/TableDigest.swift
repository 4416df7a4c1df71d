import Crypto
import Database

/// The number of rows of a table and a digest of their content, independent of the engine and the order of the rows.
///
/// It is the sum of the rows' SHA-256 digests, as four numbers of 64 bits without carry. It detects rows that were
/// lost, duplicated or changed by accident. It does not protect against an attacker who chooses rows.
package struct TableDigest: Sendable, Equatable {
    package private(set) var rows: Int64 = 0
    private var sum: [UInt64] = [0, 0, 0, 0]

    init() {}

    /// Adds a row in its encoded form.
    mutating func add(_ row: EncodedRow) {
        let digest = SHA256.hash(data: row.bytes)
        rows += 1
        digest.withUnsafeBytes { bytes in
            for lane in 0..<4 {
                sum[lane] &+= UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: lane * 8, as: UInt64.self))
            }
        }
    }

    /// The sum as 64 hexadecimal digits.
    package var checksum: String {
        (0..<4).map { lane in
            let digits = String(sum[lane], radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

/// A row, or its key, in one encoding for all engines: for each column a byte for its type, then eight bytes of number,
/// or eight bytes of length (lowest first) and the content.
struct EncodedRow: Sendable, Hashable {
    let bytes: [UInt8]

    /// - Parameter bytes: an encoded row.
    init(bytes: [UInt8]) { self.bytes = bytes }

    init(_ values: some Sequence<Value>) {
        var bytes: [UInt8] = []
        func append(_ number: UInt64) { withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) } }
        for value in values {
            switch value {
            case .null:
                bytes.append(0)
            case .integer(let integer):
                bytes.append(1)
                append(UInt64(bitPattern: integer))
            case .real(let real):
                bytes.append(2)
                // One engine does not store the sign of zero.
                append(real == 0 ? 0 : real.bitPattern)
            case .text(let text):
                bytes.append(3)
                append(UInt64(text.utf8.count))
                bytes.append(contentsOf: text.utf8)
            case .bytes(let content):
                bytes.append(4)
                append(UInt64(content.count))
                bytes.append(contentsOf: content)
            }
        }
        self.bytes = bytes
    }

    /// The columns; `nil` if the bytes are not a valid encoding.
    var values: [Value]? {
        var (rest, values) = (bytes[...], [Value]())
        func number() -> UInt64? {
            guard rest.count >= 8 else { return nil }
            defer { rest = rest.dropFirst(8) }
            return rest.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        func content() -> [UInt8]? {
            guard let length = number(), length <= UInt64(rest.count) else { return nil }
            defer { rest = rest.dropFirst(Int(length)) }
            return Array(rest.prefix(Int(length)))
        }
        while let type = rest.popFirst() {
            switch type {
            case 0: values.append(.null)
            case 1:
                guard let number = number() else { return nil }
                values.append(.integer(Int64(bitPattern: number)))
            case 2:
                guard let number = number() else { return nil }
                values.append(.real(Double(bitPattern: number)))
            case 3:
                guard let content = content() else { return nil }
                values.append(.text(String(decoding: content, as: UTF8.self)))
            case 4:
                guard let content = content() else { return nil }
                values.append(.bytes(content))
            default: return nil
            }
        }
        return values
    }
}
