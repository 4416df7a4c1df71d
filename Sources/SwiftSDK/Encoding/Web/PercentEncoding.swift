/// RFC 3986 §2.1: characters that are not allowed as they are become `%` and two upper-case hexadecimal digits.
public enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)
}

public extension PercentEncoding {
    /// Encodes UTF-8 bytes; unreserved characters (§2.3) stay, and slashes if requested.
    static func encode(_ text: String, keepingSlashes: Bool = false) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            case UInt8(ascii: "/") where keepingSlashes: bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The bytes of a percent-encoded text after decoding; `nil` if a `%` is not followed by two hexadecimal digits.
    static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var decoded: [UInt8] = []
        var rest = text.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(digit), let low = rest.next().flatMap(digit) else { return nil }
            decoded.append(high << 4 | low)
        }
        return decoded
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// A form (`application/x-www-form-urlencoded`) with its fields in order; a space becomes `+`.
    static func form(_ fields: [(name: String, value: String)]) -> [UInt8] {
        let pairs = fields.map { "\(encode($0.name))=\(encode($0.value))" }
        return Array(pairs.joined(separator: "&").replacing("%20", with: "+").utf8)
    }
}
