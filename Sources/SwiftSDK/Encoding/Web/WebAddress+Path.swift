public extension WebAddress {
    /// A path in normal form (RFC 3986 §6.2.2): unreserved characters not escaped, hexadecimal digits in capitals, and
    /// no segments `.` and `..`.
    static func normalizedPath(_ path: some StringProtocol) -> String {
        let text = unescaped(Array(path.utf8))
        var segments: [Substring] = []
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in parts.enumerated().dropFirst() {
            switch segment {
            case ".", "..":
                if segment == ".." { _ = segments.popLast() }
                if index == parts.count - 1 { segments.append("") }
            default: segments.append(segment)
            }
        }
        return "/" + segments.joined(separator: "/")
    }

    private static func unescaped(_ bytes: [UInt8]) -> String {
        var plain: [UInt8] = []
        plain.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let code = UInt8(String(decoding: bytes[(index + 1)...(index + 2)], as: UTF8.self), radix: 16)
            else {
                plain.append(bytes[index])
                index += 1
                continue
            }
            if isUnreserved(code) {
                plain.append(code)
            } else {
                plain += String(decoding: bytes[index...(index + 2)], as: UTF8.self).uppercased().utf8
            }
            index += 3
        }
        return String(decoding: plain, as: UTF8.self)
    }

    /// The unreserved characters of RFC 3986 §2.3.
    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
