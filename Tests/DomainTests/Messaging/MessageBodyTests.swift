import Encoding
import Testing

@testable import Domain

@Suite("Bodies of messages")
struct MessageBodyTests {
    private static func body(_ text: String) throws -> MessageBody {
        try MessageBody(try StrictJSON.parse(text.utf8))
    }

    @Test("have parts with media types, as text or as bytes, and come back as they went")
    func parts() throws {
        let body = try Self.body(
            #"[{"type":"Text/Plain","body":"ünï"},{"type":"image/svg+xml","body_base64":"AAEC"}]"#)
        #expect(body.parts.map(\.type) == ["text/plain", "image/svg+xml"])
        #expect(body.parts.map(\.content) == [.text("ünï"), .bytes([0, 1, 2])])
        #expect(try MessageBody(body.json) == body)
        #expect(body.size == 5 + 3)
    }

    @Test(
        "are refused in any other form",
        arguments: [
            "[]", "{}", "null", #"[1]"#, #"[{"type":"text/plain"}]"#, #"[{"body":"x"}]"#,
            #"[{"type":"text","body":"x"}]"#, #"[{"type":"text/","body":"x"}]"#, #"[{"type":"a/b/c","body":"x"}]"#,
            #"[{"type":"text/plain; charset=utf-8","body":"x"}]"#, #"[{"type":"text/pla in","body":"x"}]"#,
            #"[{"type":"text/plain","body":1}]"#, #"[{"type":"text/plain","body_base64":"AA=="}]"#,
            #"[{"type":"text/plain","body":"x","body_base64":"AA"}]"#, #"[{"type":"a/b","body":"x","more":1}]"#,
            "[" + Array(repeating: #"{"type":"a/b","body":"x"}"#, count: 17).joined(separator: ",") + "]",
            #"[{"type":"a/\#(String(repeating: "b", count: 126))","body":"x"}]"#,
        ])
    func refused(text: String) {
        #expect(throws: Refusal(.malformedRequest, "")) { try Self.body(text) }
    }

    @Test(
        "are refused above 64 KiB of content, counted over all parts, as text and as bytes, without types and escapes")
    func tooLarge() throws {
        func parts(_ texts: [String], _ member: String = "body") -> String {
            "[" + texts.map { #"{"type":"image/png","\#(member)":"\#($0)"}"# }.joined(separator: ",") + "]"
        }
        func text(_ count: Int) -> String { String(repeating: "x", count: count) }
        func escapes(_ count: Int) -> String { String(repeating: #"\u0041"#, count: count) }
        func bytes(_ count: Int) -> String { Base64URL.encode(Array(repeating: 255, count: count)) }
        for largest in [
            parts([text(65_536)]), parts([escapes(65_536)]), parts([bytes(65_536)], "body_base64"),
            parts([text(65_535), "x"]), parts(Array(repeating: escapes(4096), count: 16)),
        ] {
            #expect(try Self.body(largest).size == MessageBody.maximumBytes)
            #expect(largest.utf8.count < MessageBody.largestJSON)
        }
        for larger in [
            parts([text(65_537)]), parts([escapes(65_537)]), parts([bytes(65_537)], "body_base64"),
            parts([text(65_535), "xx"]),
        ] {
            #expect(throws: Refusal(.payloadTooLarge, "")) { try Self.body(larger) }
        }
    }

    @Test("fit into a request however their types, texts and ids are written")
    func largestRequest() throws {
        let type = "image/" + String(repeating: "b", count: 121)
        func escaped(_ text: String) -> String { text.utf8.map { #"\u00"# + String($0, radix: 16) }.joined() }
        let parts = Array(
            repeating: #"{"type":"\#(escaped(type))","body":"\#(escaped(String(repeating: "x", count: 4096)))"}"#,
            count: 16)
        let content = "[" + parts.joined(separator: ",") + "]"
        #expect(try Self.body(content).size == MessageBody.maximumBytes)
        let id = escaped("018f0d2c-53a4-7cc0-9f3e-0a8a0b5cf2f1")
        let request = #"{"id":"\#(id)","parts":\#(content),"in_reply_to":"\#(id)"}"#
        #expect(request.utf8.count <= MessageBody.largestJSON)
        #expect(16 * (type.utf8.count + 64) + 2 * 64 <= MessageBody.largestBinary - MessageBody.maximumBytes)
    }
}

@Suite("Metadata of streams")
struct StreamMetadataTests {
    private static func json(_ text: String) throws -> JSONValue { try StrictJSON.parse(text.utf8) }

    /// The examples of RFC 7396, appendix A, that have objects on both sides.
    @Test(
        "are merged as RFC 7396 has it",
        arguments: [
            (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
            (#"{"a":"b"}"#, #"{"a":null}"#, "{}"), (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
            (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
            (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
            (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#), (#"{"e":null}"#, #"{"a":1}"#, #"{"e":null,"a":1}"#),
            ("{}", #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
            // A name in NFC and the same name in NFD are two names.
            ("{\"\u{E9}\":1}", "{\"e\u{301}\":2}", "{\"\u{E9}\":1,\"e\u{301}\":2}"),
            ("{\"\u{E9}\":1}", "{\"e\u{301}\":null}", "{\"\u{E9}\":1}"),
        ])
    func merges(target: String, patch: String, result: String) throws {
        let metadata = try StreamMetadata(try Self.json(target), about: .newMetadata, within: .stream)
        #expect(
            try metadata.merged(with: try Self.json(patch), about: .newMetadata, within: .stream).value
                == Self.json(result))
    }

    @Test("have a text for each declared string, number, true and false of at most 256 bytes")
    func indexed() throws {
        let long = String(repeating: "é", count: 128)
        let metadata = try StreamMetadata(
            try Self.json(
                #"{"a":"x","b":7,"c":1.5,"d":false,"e":"","f":"\#(long)","g":"\#(long)x","h":null,"i":[1],"j":{"a":1},"k":1}"#
            ),
            about: .newMetadata, within: .stream)
        #expect(
            metadata.indexed(["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "z"])
                == ["a": "x", "b": "7", "c": "1.5", "d": "false", "e": "", "f": long])
        #expect(metadata.indexed([]).isEmpty)
        for name in ["topic", "a.b-c_d~1", String(repeating: "x", count: 64)] {
            #expect(MessageStreamPolicy.isIndexable(name))
        }
        for name in ["", "a b", "a&b", "é", "a/b", "a\u{1F}b", String(repeating: "x", count: 65)] {
            #expect(!MessageStreamPolicy.isIndexable(name), "\(name)")
        }
    }

    @Test("have bounds for names, levels and bytes, before and after a merge")
    func bounds() throws {
        let refusal = Refusal(.malformedRequest, "")
        func names(_ range: Range<Int>) -> JSONValue {
            .object(range.map { JSONMember(name: "k\($0)", value: .integer(1)) })
        }
        var deep = JSONValue.object([])
        for _ in 0..<7 { deep = .object([JSONMember(name: "d", value: deep)]) }
        _ = try StreamMetadata(deep, about: .newMetadata, within: .stream)
        let deeper = JSONValue.object([JSONMember(name: "d", value: deep)])
        let long = JSONValue.object([JSONMember(name: "l", value: .string(String(repeating: "x", count: 16_384)))])
        let list = JSONValue.object([JSONMember(name: "a", value: .array(Array(repeating: .null, count: 200)))])
        for bad in [names(0..<201), names(0..<100_000), deeper, long, list, .array([]), .string("x"), .null] {
            #expect(throws: refusal) { try StreamMetadata(bad, about: .newMetadata, within: .stream) }
            #expect(throws: refusal) {
                try StreamMetadata.empty.merged(with: bad, about: .newMetadata, within: .stream)
            }
        }
        let many = try StreamMetadata(names(0..<150), about: .newMetadata, within: .stream)
        #expect(throws: refusal) { try many.merged(with: names(150..<250), about: .newMetadata, within: .stream) }
        _ = try many.merged(with: names(0..<150), about: .newMetadata, within: .stream)
    }
}
