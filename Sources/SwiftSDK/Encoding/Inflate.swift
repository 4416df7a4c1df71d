/// Why bytes cannot be decompressed.
public enum InflateDefect: String, Error, Sendable, CaseIterable {
    case truncated, header, block, code, distance, checksum, trailingBytes, tooLong
}

/// Decompresses DEFLATE (RFC 1951) in the format of zlib (RFC 1950), with a bound on the output.
///
/// The input is from outside, and a few bytes can expand to gigabytes. So it stops at the bound and allocates nothing
/// in advance.
public struct Inflate {
    private let input: ArraySlice<UInt8>
    private let limit: Int
    private var position: Int
    private var buffer: UInt32 = 0
    private var bits = 0
    private var output: [UInt8] = []

    private init(_ input: ArraySlice<UInt8>, limit: Int) {
        self.input = input
        self.limit = limit
        position = input.startIndex
    }
}

public extension Inflate {
    /// Decompresses the one stream that the input consists of.
    ///
    /// - Parameter limit: the longest output, bytes.
    static func zlib(_ input: ArraySlice<UInt8>, upTo limit: Int) throws(InflateDefect) -> [UInt8] {
        var stream = Inflate(input, limit: limit)
        let (method, flags) = (try stream.byte(), try stream.byte())
        // DEFLATE with a window of at most 32 KiB, a valid check of the header, and no preset dictionary.
        guard method & 15 == 8, method >> 4 <= 7, (UInt16(method) << 8 | UInt16(flags)) % 31 == 0, flags & 0x20 == 0
        else { throw .header }
        try stream.blocks()
        var checksum: UInt32 = 0
        for _ in 0..<4 { checksum = checksum << 8 | UInt32(try stream.byte()) }
        guard checksum == adler32(stream.output) else { throw .checksum }
        guard stream.position == input.endIndex else { throw .trailingBytes }
        return stream.output
    }

    /// RFC 1950 §8.2. The sums of 5,552 bytes fit into 32 bits.
    private static func adler32(_ bytes: [UInt8]) -> UInt32 {
        var (low, high): (UInt32, UInt32) = (1, 0)
        for start in stride(from: 0, to: bytes.count, by: 5552) {
            for byte in bytes[start..<min(start + 5552, bytes.count)] {
                low += UInt32(byte)
                high += low
            }
            low %= 65521
            high %= 65521
        }
        return high << 16 | low
    }

    private mutating func blocks() throws(InflateDefect) {
        var isLast = false
        while !isLast {
            isLast = try take(1) == 1
            switch try take(2) {
            case 0: try stored()
            case 1: try compressed(HuffmanCode.fixedLiterals, HuffmanCode.fixedDistances)
            case 2:
                let (literals, distances) = try codes()
                try compressed(literals, distances)
            default: throw .block
            }
        }
        // The rest of the last byte is padding.
        bits = 0
    }

    /// A block that is not compressed (RFC 1951 §3.2.4).
    private mutating func stored() throws(InflateDefect) {
        bits = 0
        buffer = 0
        let length = UInt16(try byte()) | UInt16(try byte()) << 8
        let complement = UInt16(try byte()) | UInt16(try byte()) << 8
        guard length == ~complement else { throw .block }
        let end = position + Int(length)
        guard end <= input.endIndex else { throw .truncated }
        guard output.count + Int(length) <= limit else { throw .tooLong }
        output += input[position..<end]
        position = end
    }

    /// Symbols up to the end of the block (§3.2.5).
    private mutating func compressed(
        _ literals: HuffmanCode, _ distances: HuffmanCode
    ) throws(InflateDefect) {
        while true {
            let symbol = try self.symbol(literals)
            if symbol < 256 {
                guard output.count < limit else { throw .tooLong }
                output.append(UInt8(truncatingIfNeeded: symbol))
                continue
            }
            guard symbol > 256 else { return }
            guard symbol - 257 < HuffmanCode.lengths.count else { throw .code }
            let (base, extra) = HuffmanCode.lengths[symbol - 257]
            let length = base + (try take(extra))
            let place = try self.symbol(distances)
            guard place < HuffmanCode.distances.count else { throw .code }
            let (nearest, further) = HuffmanCode.distances[place]
            let distance = nearest + (try take(further))
            guard distance <= output.count else { throw .distance }
            guard output.count + length <= limit else { throw .tooLong }
            // The copy may overlap itself: it repeats the last bytes.
            for _ in 0..<length { output.append(output[output.count - distance]) }
        }
    }

    /// The two codes of a block that has its own (§3.2.7).
    private mutating func codes() throws(InflateDefect) -> (HuffmanCode, HuffmanCode) {
        let (literals, distances) = (try take(5) + 257, try take(5) + 1)
        let count = try take(4) + 4
        guard literals <= 286, distances <= 30 else { throw .code }
        var lengths = [UInt8](repeating: 0, count: 19)
        for place in HuffmanCode.order.prefix(count) { lengths[place] = UInt8(try take(3)) }
        let code = try HuffmanCode(lengths[...], isComplete: true)
        lengths = []
        while lengths.count < literals + distances {
            let symbol = try self.symbol(code)
            let (value, times): (UInt8, Int)
            switch symbol {
            case 16:
                guard let last = lengths.last else { throw .code }
                (value, times) = (last, 3 + (try take(2)))
            case 17: (value, times) = (0, 3 + (try take(3)))
            case 18: (value, times) = (0, 11 + (try take(7)))
            default: (value, times) = (UInt8(truncatingIfNeeded: symbol), 1)
            }
            guard lengths.count + times <= literals + distances else { throw .code }
            lengths += repeatElement(value, count: times)
        }
        // A block without an end would never end.
        guard lengths[256] > 0 else { throw .code }
        return (try HuffmanCode(lengths[..<literals]), try HuffmanCode(lengths[literals...]))
    }

    private mutating func symbol(_ code: HuffmanCode) throws(InflateDefect) -> Int {
        var (value, first, index) = (0, 0, 0)
        for count in code.counts.dropFirst() {
            value |= try take(1)
            if value - first < count { return code.symbols[index + value - first] }
            index += count
            first = (first + count) << 1
            value <<= 1
        }
        throw .code
    }

    /// The next bits, at most 13 of them, the lowest first.
    private mutating func take(_ count: Int) throws(InflateDefect) -> Int {
        while bits < count {
            buffer |= UInt32(try byte()) << UInt32(bits)
            bits += 8
        }
        let value = buffer & (1 << UInt32(count) - 1)
        buffer >>= UInt32(count)
        bits -= count
        return Int(value)
    }

    private mutating func byte() throws(InflateDefect) -> UInt8 {
        guard position < input.endIndex else { throw .truncated }
        defer { position += 1 }
        return input[position]
    }
}

/// A canonical prefix code (RFC 1951 §3.2.2).
private struct HuffmanCode {
    /// The number of codes of each length, 0 to 15.
    let counts: [Int]
    /// The symbols in the order of their codes.
    let symbols: [Int]

    /// Takes the length of each symbol's code, 0 for none.
    ///
    /// - Parameter isComplete: whether every string of bits must begin with a code. Otherwise a single code of one bit,
    ///   or none, is permitted too: a block may need no distances.
    init(_ lengths: ArraySlice<UInt8>, isComplete: Bool = false) throws(InflateDefect) {
        var counts = [Int](repeating: 0, count: 16)
        for length in lengths { counts[Int(length & 15)] += 1 }
        var free = 1
        for count in counts.dropFirst() {
            free = free << 1 - count
            guard free >= 0 else { throw .code }
        }
        let isSparse = counts.dropFirst(2).allSatisfy { $0 == 0 }
        guard free == 0 || (!isComplete && isSparse) else { throw .code }
        counts[0] = 0
        self.counts = counts
        let used = lengths.enumerated().filter { $0.element > 0 }
        symbols = used.sorted { ($0.element, $0.offset) < ($1.element, $1.offset) }.map(\.offset)
    }

    private init(counts: [Int: Int], symbols: [Int]) {
        self.counts = (0...15).map { counts[$0] ?? 0 }
        self.symbols = symbols
    }

    /// The codes of RFC 1951 §3.2.6.
    static let fixedLiterals = HuffmanCode(
        counts: [7: 24, 8: 152, 9: 112],
        symbols: Array(256...279) + Array(0...143) + Array(280...287) + Array(144...255))
    static let fixedDistances = HuffmanCode(counts: [5: 32], symbols: Array(0...31))

    /// The order in which the lengths of the code of lengths are written.
    static let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

    /// The least length of each symbol from 257 on, and the number of bits that are added.
    static let lengths: [(Int, Int)] =
        (0..<8).map { (3 + $0, 0) }
        + (1...5).flatMap { extra in (0..<4).map { (3 + (4 + $0) << extra, extra) } } + [(258, 0)]

    /// The least distance of each symbol, and the number of bits that are added.
    static let distances: [(Int, Int)] =
        (0..<4).map { (1 + $0, 0) }
        + (1...13).flatMap { extra in (0..<2).map { (1 + (2 + $0) << extra, extra) } }
}
