import Encoding
import NIOHPACK

/// The header block of a well-formed request of HTTP/2 (RFC 9113 §8.2, §8.3).
///
/// The HTTP library has these rules too, but it compares the values of `te`, `content-length` and `:method` as text, by
/// canonical equivalence. A field of combining marks costs quadratic time there, before any handler sees it. So the
/// library's rules are off, and these compare bytes (Upstream.md).
struct RequestBlock {
    /// The length of the body by `Content-Length`; `nil` if the field is missing.
    let length: Int?

    /// `nil` for a malformed block.
    init?(_ block: HPACKHeaders) {
        var pseudo = PseudoFields()
        var isBehindPseudo = false
        var announced: String?
        for (name, value, _) in block {
            if name.utf8.first == UInt8(ascii: ":") {
                guard !isBehindPseudo, pseudo.take(name, value) else { return nil }
            } else {
                isBehindPseudo = true
                guard Self.isField(name, value) else { return nil }
                guard name.hasSameBytes(as: "content-length") else { continue }
                guard announced == nil else { return nil }
                announced = value
            }
        }
        guard pseudo.areComplete else { return nil }
        length = announced.flatMap(Self.number)
        if announced != nil, length == nil { return nil }
    }

    /// Whether a block may follow a body (RFC 9113 §8.1).
    static func areTrailers(_ block: HPACKHeaders) -> Bool { block.allSatisfy { isField($0.name, $0.value) } }

    /// Whether a field has a lower-case name, is not connection-specific (RFC 9113 §8.2.2), and contains no line
    /// breaks.
    private static func isField(_ name: String, _ value: String) -> Bool {
        guard isToken(name), !name.utf8.contains(where: { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }),
            !value.utf8.contains(where: { $0 == 0 || $0 == 0x0A || $0 == 0x0D })
        else { return false }
        // Most fields differ from these in length, so their letters need not be compared.
        switch name.utf8.count {
        case 2: return !name.hasSameBytes(as: "te") || value.hasSameBytes(as: "trailers")
        case 7: return !name.hasSameBytes(as: "upgrade")
        case 10: return !name.hasSameBytes(as: "connection") && !name.hasSameBytes(as: "keep-alive")
        case 16: return !name.hasSameBytes(as: "proxy-connection")
        case 17: return !name.hasSameBytes(as: "transfer-encoding")
        default: return true
        }
    }

    /// A token of RFC 9110 §5.6.2.
    fileprivate static func isToken(_ text: String) -> Bool {
        !text.utf8.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    /// Parses decimal digits; too few to overflow.
    private static func number(_ value: String) -> Int? {
        guard value.utf8.count <= 18, value.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int(value)
    }
}

/// The pseudo-header fields of a request that were read so far (RFC 9113 §8.3.1).
private struct PseudoFields {
    private struct Names: OptionSet {
        let rawValue: UInt8
        static let method = Names(rawValue: 1)
        static let scheme = Names(rawValue: 2)
        static let path = Names(rawValue: 4)
        static let authority = Names(rawValue: 8)
    }

    private var seen: Names = []
    private var isConnect = false

    /// `CONNECT` has neither scheme nor path (RFC 9113 §8.5).
    var areComplete: Bool {
        isConnect ? seen == [.method, .authority] : seen.isSuperset(of: [.method, .scheme, .path])
    }

    /// Reads a field; `false` if it is unknown, repeated, or has an invalid value.
    mutating func take(_ name: String, _ value: String) -> Bool {
        guard let field = Self.named(name), !seen.contains(field),
            !value.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F })
        else { return false }
        seen.insert(field)
        switch field {
        case .method:
            isConnect = value.hasSameBytes(as: "CONNECT")
            return RequestBlock.isToken(value)
        case .scheme: return RequestBlock.isToken(value)
        case .path: return !value.utf8.isEmpty
        default: return true
        }
    }

    private static func named(_ name: String) -> Names? {
        if name.hasSameBytes(as: ":method") { return .method }
        if name.hasSameBytes(as: ":scheme") { return .scheme }
        if name.hasSameBytes(as: ":path") { return .path }
        return name.hasSameBytes(as: ":authority") ? .authority : nil
    }
}
