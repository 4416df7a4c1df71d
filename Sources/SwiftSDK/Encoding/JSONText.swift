public extension JSONValue {
    /// The value written as JSON (RFC 8259), without white space; members keep their order.
    var jsonText: String { String(decoding: jsonBytes, as: UTF8.self) }

    /// The UTF-8 bytes of ``jsonText``.
    var jsonBytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(512)
        appendJSON(to: &bytes)
        return bytes
    }

    /// Appends ``jsonText`` as UTF-8, for responses that are built in one buffer. JSON has no number for infinity and
    /// NaN (§6): they become `null`.
    func appendJSON(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let value): bytes += String(value).utf8
        case .number(let value): bytes += (value.isFinite ? String(value) : "null").utf8
        case .string(let text): Self.appendQuoted(text, to: &bytes)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.appendJSON(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.appendQuoted(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.appendJSON(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// RFC 8259 §7: only the quotation mark, the reverse solidus and characters below U+0020 must be escaped. If a
    /// two-character escape exists, it is used, as most writers do and `grep '\n'` expects.
    private static func appendQuoted(_ text: String, to bytes: inout [UInt8]) {
        let quote = UInt8(ascii: "\"")
        bytes.append(quote)
        var text = text
        text.withUTF8 { utf8 in
            // Most texts have nothing to escape and are copied whole.
            if utf8.allSatisfy({ $0 >= 0x20 && $0 != quote && $0 != UInt8(ascii: "\\") }) {
                bytes.append(contentsOf: utf8)
            } else {
                appendEscaped(utf8, to: &bytes)
            }
        }
        bytes.append(quote)
    }

    private static func appendEscaped(_ utf8: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0x08: bytes += "\\b".utf8
            case 0x09: bytes += "\\t".utf8
            case 0x0A: bytes += "\\n".utf8
            case 0x0C: bytes += "\\f".utf8
            case 0x0D: bytes += "\\r".utf8
            case ..<0x20:
                bytes += byte < 0x10 ? "\\u000".utf8 : "\\u00".utf8
                bytes += String(byte, radix: 16).utf8
            default: bytes.append(byte)
            }
        }
    }
}
