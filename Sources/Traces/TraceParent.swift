/// The place of a request in a trace, as the header field `traceparent` carries it (W3C Trace Context §3.2).
package struct TraceParent: Sendable, Hashable, CustomStringConvertible {
    /// The 16 bytes of the trace's id; not all zero.
    package let traceID: TraceID
    /// The id of the span that is the parent of the next ones; not zero.
    let spanID: UInt64
    /// Whether the sender records the trace (§3.2.2.5.1).
    let isSampled: Bool

    init(traceID: TraceID, spanID: UInt64, isSampled: Bool) {
        (self.traceID, self.spanID, self.isSampled) = (traceID, spanID, isSampled)
    }
}

package extension TraceParent {
    struct TraceID: Sendable, Hashable {
        let high: UInt64
        let low: UInt64
    }

    /// Parses the field's value; `nil` if it is malformed, which is treated like a missing field (§4.3).
    ///
    /// A later version may append further parts after a hyphen. They are ignored.
    init?(_ text: String) {
        let bytes = Array(text.utf8.prefix(Self.length + 1))
        guard bytes.count >= Self.length, [2, 35, 52].allSatisfy({ bytes[$0] == Self.hyphen }),
            let version = Self.number(bytes[0..<2]), version != 0xFF,
            bytes.count == Self.length || version > 0 && bytes[Self.length] == Self.hyphen,
            let high = Self.number(bytes[3..<19]), let low = Self.number(bytes[19..<35]), high | low != 0,
            let span = Self.number(bytes[36..<52]), span != 0, let flags = Self.number(bytes[53..<55])
        else { return nil }
        self.init(traceID: TraceID(high: high, low: low), spanID: span, isSampled: flags & 1 == 1)
    }

    /// The field's value in version 0.
    var description: String {
        "00-\(traceID)-\(HexadecimalText.of(spanID))-\(isSampled ? "01" : "00")"
    }

    private static let length = 55
    private static let hyphen = UInt8(ascii: "-")

    /// Parses lower-case hexadecimal digits, at most 16.
    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return number
    }
}

extension TraceParent.TraceID: CustomStringConvertible {
    package var description: String { HexadecimalText.of(high) + HexadecimalText.of(low) }
}

/// Numbers as sixteen lower-case hexadecimal digits.
enum HexadecimalText {
    static func of(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
