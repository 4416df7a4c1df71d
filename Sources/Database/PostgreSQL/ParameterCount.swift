/// The parameters of a statement, read from its text. An engine with declared parameter types accepts more
/// arguments than the statement uses.
enum ParameterCount {
    /// The highest number after a `$` outside texts, quoted names and comments; 0 if there is none.
    static func highest(in sql: String) -> Int { parameters(in: Array(sql.utf8)).map(\.number).max() ?? 0 }

    /// A statement whose parameters have higher numbers, so that others can come before them.
    static func shift(_ sql: String, by count: Int) -> String {
        guard count > 0 else { return sql }
        let bytes = Array(sql.utf8)
        var (shifted, start) = ([UInt8](), 0)
        for parameter in parameters(in: bytes) {
            shifted += bytes[start..<parameter.digits.lowerBound]
            shifted += String(parameter.number + count).utf8
            start = parameter.digits.upperBound
        }
        return String(decoding: shifted + bytes[start...], as: UTF8.self)
    }

    /// The parameters of a statement, with the places of their digits.
    private static func parameters(in bytes: [UInt8]) -> [(digits: Range<Int>, number: Int)] {
        var (index, found) = (0, [(digits: Range<Int>, number: Int)]())
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "'"), UInt8(ascii: "\""):
                // A doubled quote ends one text and begins the next.
                index = end(of: bytes, after: index + 1) { bytes[$0] == bytes[index] }
            case UInt8(ascii: "-") where follows(bytes, index, "-"):
                index = end(of: bytes, after: index + 2) { bytes[$0] == UInt8(ascii: "\n") }
            case UInt8(ascii: "/") where follows(bytes, index, "*"):
                index = end(of: bytes, after: index + 3) {
                    bytes[$0] == UInt8(ascii: "/") && bytes[$0 - 1] == UInt8(ascii: "*")
                }
            case UInt8(ascii: "$"):
                index += 1
                let start = index
                var number = 0
                while index < bytes.count, (0x30...0x39).contains(bytes[index]), number < 100_000 {
                    number = number * 10 + Int(bytes[index] - 0x30)
                    index += 1
                }
                if start < index { found.append((start..<index, number)) }
            default:
                index += 1
            }
        }
        return found
    }

    private static func follows(_ bytes: [UInt8], _ index: Int, _ next: Unicode.Scalar) -> Bool {
        index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: next)
    }

    /// The position after the first byte from `start` that ends a token.
    private static func end(of bytes: [UInt8], after start: Int, _ isLast: (Int) -> Bool) -> Int {
        var index = start
        while index < bytes.count, !isLast(index) {
            index += 1
        }
        return index + 1
    }
}
