import Domain
import Foundation
import HTTPTypes
import NIOHTTP1
import Testing

@testable import API

@Suite("A request of HTTP/1")
struct MessageRulesTests {
    private static func defect(_ fields: [(String, String)], _ version: HTTPVersion = .http1_1) -> HTTPDefect? {
        MessageRules.defect(
            of: HTTPRequestHead(version: version, method: .GET, uri: "/", headers: HTTPHeaders(fields)))
    }

    @Test("names one host, in HTTP/1.0 at most one")
    func host() {
        #expect(Self.defect([("Accept", "*/*"), ("hOST", "auth.example:8440")]) == nil)
        #expect(Self.defect([])?.status == .badRequest)
        #expect(Self.defect([("Host", "a"), ("host", "a")])?.status == .badRequest)
        #expect(Self.defect([], .http1_0) == nil)
        #expect(Self.defect([("Host", "a"), ("host", "a")], .http1_0)?.status == .badRequest)
        #expect(Self.defect([("Host", "a b")], .http1_0)?.status == .badRequest)
    }

    @Test(
        "names it as RFC 3986 writes a host and a port",
        arguments: ["localhost", "127.0.0.1:8440", "[::1]:8441", "[fe80::1%25en0]", "a_b.example", "a.example:", "%41"])
    func goodHost(text: String) {
        #expect(MessageRules.isHost(text))
    }

    @Test(
        "names nothing else",
        arguments: [
            "", ":8440", "a b", "a/b", "user@a", "a:b", "a:123456", "[::1", "[]", "::1", "a,b:1:2", "a\u{0}", "ä",
            "[::1]x",
            "a#b", "a?b", "https://a",
        ])
    func badHost(text: String) {
        #expect(!MessageRules.isHost(text))
    }

    @Test("comes in one chunked coding or none; another coding is not known here")
    func codings() {
        let host = ("Host", "a")
        #expect(Self.defect([host, ("Transfer-Encoding", "chunked")]) == nil)
        #expect(Self.defect([host, ("Transfer-Encoding", " Chunked ")]) == nil)
        for codings in ["gzip, chunked", "chunked, gzip", "identity", "chunked;q=1", "xchunked"] {
            #expect(Self.defect([host, ("Transfer-Encoding", codings)]) == .unknownTransferCoding)
        }
        let twice = [host, ("transfer-encoding", "chunked"), ("Transfer-Encoding", "chunked")]
        for fields in [twice, [host, ("Transfer-Encoding", "")], [host, ("Transfer-Encoding", "chunked,chunked")]] {
            #expect(Self.defect(fields)?.status == .badRequest)
        }
        #expect(Self.defect([host, ("Transfer-Encoding", "chunked")], .http1_0)?.status == .badRequest)
    }

    @Test("has no long run of combining marks in a field or in its target, also if it is percent-encoded")
    func marks() throws {
        let run = String(repeating: "\u{302}\u{316}", count: 16)
        let encoded = try #require(run.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        let defect = HTTPDefect.malformed("The target or a field has more than 30 combining marks in a row.")
        #expect(Self.defect([("Host", "a"), ("Authorization", "Bearer a\(run)")]) == defect)
        #expect(Self.defect([("Host", "a"), ("Connection", run)]) == defect)
        #expect(Self.defect([("Host", "a"), ("User-Agent", "Zo\u{e9} e\u{301}")]) == nil)
        for target in ["/a?cursor=\(encoded)", "/\(encoded)"] {
            #expect(MessageRules.defect(ofTarget: target, values: []) == defect)
        }
        #expect(MessageRules.defect(ofTarget: "/provider/users/Zo%C3%A9", values: ["x"]) == nil)
        let head = HTTPRequest(
            method: .get, scheme: "https", authority: "a", path: "/", headerFields: [.accept: "*/*\(run)"])
        #expect(FieldLimitsHandler.defect(of: head, Policy().requests) == defect)
    }

    @Test(
        "has a target of visible ASCII that can be decoded, over HTTP/1 and HTTP/2",
        arguments: ["/é", "/a b", "/\u{302}", "/a?cursor=%FF", "/%zz", "/%", "/%C3"])
    func target(text: String) {
        #expect(MessageRules.defect(ofTarget: text, values: [])?.status == .badRequest)
        let head = HTTPRequest(method: .get, scheme: "https", authority: "a", path: text)
        #expect(FieldLimitsHandler.defect(of: head, Policy().requests)?.status == .badRequest)
    }

    @Test("of HTTP/2 names a host in :authority, if it names one")
    func authority() {
        func defect(_ authority: String?) -> HTTPDefect? {
            FieldLimitsHandler.defect(
                of: HTTPRequest(method: .get, scheme: "https", authority: authority, path: "/"), Policy().requests)
        }
        #expect(defect(nil) == nil && defect("auth.example:8441") == nil && defect("[::1]:8441") == nil)
        for wrong in ["", "a b", "user@a", "a/b", "ä", "a:b"] {
            #expect(defect(wrong)?.status == .badRequest, "\(wrong)")
        }
    }

    @Test("is the last on its connection where the client says so, and where it wants another protocol")
    func last() {
        func isLast(_ version: HTTPVersion, _ method: HTTPMethod, _ fields: [(String, String)]) -> Bool {
            MessageRules.isLast(
                HTTPRequestHead(version: version, method: method, uri: "/", headers: HTTPHeaders(fields)))
        }
        #expect(!isLast(.http1_1, .GET, []))
        #expect(isLast(.http1_1, .GET, [("Connection", "Close")]))
        #expect(isLast(.http1_0, .GET, []))
        #expect(!isLast(.http1_0, .GET, [("Connection", "keep-alive")]))
        #expect(isLast(.http1_1, .CONNECT, []))
        #expect(isLast(.http1_1, .GET, [("Connection", "Upgrade"), ("Upgrade", "h2c")]))
    }
}
