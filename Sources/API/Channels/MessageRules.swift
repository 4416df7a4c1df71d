import Encoding
import Foundation
import HTTPTypes
import NIOHTTP1

/// The rules for a request of HTTP/1 that the HTTP library leaves to the server (RFC 9112, Upstream.md).
enum MessageRules {
    /// The first defect of a head; `nil` if it is valid.
    static func defect(of head: HTTPRequestHead) -> HTTPDefect? {
        var host: String?
        var codings: String?
        for (name, value) in head.headers {
            // Most fields differ from these two in length, so their letters need not be compared.
            if name.utf8.count == 4, name.lowercased() == "host" {
                guard host == nil else { return .malformed("The request has more than one Host field. Send one.") }
                host = value
            } else if name.utf8.count == 17, name.lowercased() == "transfer-encoding" {
                codings = codings.map { "\($0),\(value)" } ?? value
            }
        }
        if let defect = defect(ofTarget: head.uri, values: head.headers.lazy.map { $0.value }) { return defect }
        if let defect = codings.flatMap({ Self.defect(ofCodings: $0, head.version) }) { return defect }
        guard let host else {
            return head.version == .http1_0 ? nil : .malformed("The Host field is missing.")
        }
        return isHost(host) ? nil : .malformed("The Host header is not a valid host and optional port.")
    }

    /// Whether the target is visible ASCII (RFC 9112 §3.2) that can be decoded. The decoded target and the fields must
    /// allow linear-time work: see `isStreamSafe`.
    static func defect(ofTarget target: String, values: some Sequence<String>) -> HTTPDefect? {
        guard target.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return .malformed("The target has a byte that is not visible ASCII. Percent-encode it.")
        }
        var decoded = target
        if target.utf8.contains(UInt8(ascii: "%")) {
            guard let text = target.removingPercentEncoding else {
                return .malformed("The target's percent-encoding does not decode to UTF-8 text.")
            }
            decoded = text
        }
        guard decoded.isStreamSafe, values.allSatisfy({ $0.isStreamSafe }) else {
            return .malformed("The target or a field has more than 30 combining marks in a row.")
        }
        return nil
    }

    /// Whether the connection closes after the answer. It does if the client asks for it, or with HTTP/1.0 does not ask
    /// otherwise. It also does if the client requests another protocol, since the decoder then reads no further
    /// request.
    static func isLast(_ head: HTTPRequestHead) -> Bool {
        !head.isKeepAlive || head.method == .CONNECT || head.headers.contains(name: "upgrade")
    }

    /// RFC 9112 §6.1: only `chunked`, once, and not in HTTP/1.0.
    private static func defect(ofCodings field: String, _ version: HTTPVersion) -> HTTPDefect? {
        guard version != .http1_0 else { return .malformed("HTTP/1.0 has no Transfer-Encoding. Send Content-Length.") }
        // What no client sends is not parsed.
        guard field.utf8.count <= 256 else { return .unknownTransferCoding }
        let codings = field.split(separator: ",").map { $0.trimming(while: \.isWhitespace).lowercased() }
        guard codings.allSatisfy({ $0 == "chunked" }) else { return .unknownTransferCoding }
        return codings.count == 1 ? nil : .malformed("Transfer-Encoding must be chunked, exactly once.")
    }

    /// RFC 3986 §3.2.2 and §3.2.3: a name, an IPv4 address or an IPv6 address in brackets, and an optional port.
    static func isHost(_ text: String) -> Bool {
        var rest = text.utf8[...]
        if rest.first == UInt8(ascii: "[") {
            guard let end = rest.firstIndex(of: UInt8(ascii: "]")) else { return false }
            let address = rest[rest.index(after: rest.startIndex)..<end]
            guard !address.isEmpty, address.allSatisfy({ isName($0) || $0 == UInt8(ascii: ":") }) else { return false }
            rest = rest[rest.index(after: end)...]
        } else {
            let name = rest.prefix { isName($0) }
            guard !name.isEmpty else { return false }
            rest = rest.dropFirst(name.count)
        }
        guard let colon = rest.first else { return true }
        let port = rest.dropFirst()
        return colon == UInt8(ascii: ":") && port.count <= 5
            && port.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// Whether a byte is in `unreserved`, `pct-encoded` or `sub-delims`.
    private static func isName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~%!$&'()*+,;=".utf8.contains(byte)
        }
    }
}

extension Substring {
    func trimming(while fits: (Character) -> Bool) -> Substring {
        var text = drop(while: fits)
        while let last = text.last, fits(last) { text.removeLast() }
        return text
    }
}
