import Domain
import Fixtures
import HummingbirdCore
import NIOHPACK
import NIOHTTP2
import Testing

@testable import API

@Suite("The header block of a request of HTTP/2")
struct RequestBlockTests {
    private static let plain: [(String, String)] = [(":method", "GET"), (":scheme", "https"), (":path", "/")]
    private static let marks = String(repeating: "\u{301}", count: 40)

    private func block(_ fields: [(String, String)]) -> RequestBlock? { RequestBlock(HPACKHeaders(fields)) }

    @Test("has a method, a scheme and a path before its fields, and perhaps an authority")
    func whole() {
        #expect(block(Self.plain) != nil)
        #expect(
            block([(":authority", "x")] + Self.plain + [("te", "trailers"), ("x-a!#$%&'*+-.^_`|~1", "é \t")]) != nil)
        #expect(block([(":method", "CONNECT"), (":authority", "x:1")]) != nil)
    }

    @Test(
        "is malformed with a field that is missing, there twice, unknown, behind others or without a value of its kind",
        arguments: [
            [], [(":method", "GET"), (":scheme", "https")], [(":method", "GET"), (":path", "/")],
            [(":scheme", "https"), (":path", "/")], plain + [(":path", "/")],
            plain + [("x", "1"), (":authority", "x")],
            plain + [(":status", "200")], plain + [(":protocol", "websocket")], plain + [(":", "x")],
            [(":method", "CONNECT"), (":scheme", "https"), (":path", "/"), (":authority", "x")],
            [(":method", "GET"), (":scheme", "https"), (":path", "")],
            [(":method", "GET"), (":scheme", "https"), (":path", "/a b")],
            [(":method", "G T"), (":scheme", "https"), (":path", "/")],
            [(":method", "GET" + marks), (":scheme", "https"), (":path", "/")],
            [(":method", ""), (":scheme", "https"), (":path", "/")],
            [(":method", "GET"), (":scheme", "https" + marks), (":path", "/")],
        ])
    func pseudo(fields: [(String, String)]) {
        #expect(block(fields) == nil)
    }

    @Test(
        "is malformed with a field about the connection, with a name that is none, and with a line's end in a value",
        arguments: [
            ("connection", "close"), ("keep-alive", "1"), ("proxy-connection", "x"), ("transfer-encoding", "chunked"),
            ("upgrade", "h2c"), ("te", "gzip"), ("te", "trailers, gzip"), ("te", "Trailers"), ("te", marks),
            ("te", "trailers" + marks), ("Upper", "x"), ("", "x"), ("a b", "x"), ("é", "x"), ("x", "a\nb"),
            ("x", "a\rb"),
            ("x", "\0"),
        ])
    func fields(name: String, value: String) {
        #expect(block(Self.plain + [(name, value)]) == nil)
        #expect(!RequestBlock.areTrailers([name: value]))
        #expect(RequestBlock.areTrailers(["x-checksum": "1"]))
        #expect(!RequestBlock.areTrailers([":path": "/"]))
    }

    @Test("announces one length in digits, or none")
    func length() {
        func length(_ values: String...) -> Int?? {
            block(Self.plain + values.map { ("content-length", $0) }).map(\.length)
        }
        #expect(length() == .some(nil))
        #expect(length("0") == 0 && length("123456789012345678") == 123_456_789_012_345_678)
        for values in [["7", "7"], ["7", "8"], ["7", "07"]] { #expect(length(values[0], values[1]) == nil) }
        for value in ["", "+7", "-7", " 7", "7, 7", "0x7", "1234567890123456789", "7" + Self.marks, "٧"] {
            #expect(length(value) == nil, "\(value)")
        }
        #expect(length(Self.marks, Self.marks) == nil)
    }

    @Test("is judged here alone: the library, which compares text, judges none")
    func library() {
        let connection = HTTP2Connection(
            http1: HTTP1Channel(responder: { _, _, _ in }), limits: Policy().requests, maximumStreams: 1, fastPath: nil,
            accounts: .roomy)
        guard case .disabled = connection.configuration.connection.headerBlockValidation,
            case .disabled = connection.configuration.connection.contentLengthValidation
        else { return #expect(Bool(false), "The library validates.") }
    }
}
