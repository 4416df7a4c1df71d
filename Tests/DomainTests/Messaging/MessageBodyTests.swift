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
        #expect(body.size == "text/plainimage/svg+xml".utf8.count + 5 + 3)
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

    @Test("are refused above 64 KiB, counted over all parts")
    func tooLarge() throws {
        let half = String(repeating: "x", count: 32_760)
        _ = try Self.body(#"[{"type":"a/b","body":"\#(half)"},{"type":"a/b","body":"\#(half)"}]"#)
        #expect(throws: Refusal(.payloadTooLarge, "")) {
            try Self.body(#"[{"type":"a/b","body":"\#(half)xxxxxx"},{"type":"a/b","body":"\#(half)xxxxxx"}]"#)
        }
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
        ])
    func merges(target: String, patch: String, result: String) throws {
        let metadata = try StreamMetadata(try Self.json(target), about: .newMetadata)
        #expect(try metadata.merged(with: try Self.json(patch), about: .newMetadata).value == Self.json(result))
    }

    @Test("have bounds for names, levels and bytes, before and after a merge")
    func bounds() throws {
        let refusal = Refusal(.malformedRequest, "")
        func names(_ range: Range<Int>) -> JSONValue {
            .object(range.map { JSONMember(name: "k\($0)", value: .integer(1)) })
        }
        var deep = JSONValue.object([])
        for _ in 0..<7 { deep = .object([JSONMember(name: "d", value: deep)]) }
        _ = try StreamMetadata(deep, about: .newMetadata)
        let deeper = JSONValue.object([JSONMember(name: "d", value: deep)])
        let long = JSONValue.object([JSONMember(name: "l", value: .string(String(repeating: "x", count: 16_384)))])
        let list = JSONValue.object([JSONMember(name: "a", value: .array(Array(repeating: .null, count: 200)))])
        for bad in [names(0..<201), names(0..<100_000), deeper, long, list, .array([]), .string("x"), .null] {
            #expect(throws: refusal) { try StreamMetadata(bad, about: .newMetadata) }
            #expect(throws: refusal) { try StreamMetadata.empty.merged(with: bad, about: .newMetadata) }
        }
        let many = try StreamMetadata(names(0..<150), about: .newMetadata)
        #expect(throws: refusal) { try many.merged(with: names(150..<250), about: .newMetadata) }
        _ = try many.merged(with: names(0..<150), about: .newMetadata)
    }
}
