import Domain
import Encoding
import Testing

@testable import API

@Suite("Texts in bodies")
struct BodyTextTests {
    private static func refusal(_ json: String, _ read: (inout JSONBodyDecoder) throws -> Void) throws -> String? {
        var members = try JSONBodyDecoder(Array(json.utf8))
        do { try read(&members) } catch let refusal as Refusal { return refusal.detail }
        return nil
    }

    @Test("have no U+0000, in names and values, however deep and however they are read")
    func null() throws {
        for (json, place) in [
            (#"{"a":"\u0000"}"#, "$.a"), (#"{"a":{"b":"x\u0000"}}"#, "$.a.b"), (#"{"a":{"b\u0000":1}}"#, "$.a"),
            (#"{"a":[1,{"b":["x","\u0000"]}]}"#, "$.a[1].b[1]"), (#"{"a":{"b":{"\u0000c":null}}}"#, "$.a.b"),
        ] {
            let reads: [(inout JSONBodyDecoder) throws -> Void] = [
                { _ = try $0.optionalValue("a") }, { _ = try $0.value("a") }, { _ = try $0.optionalString("a") },
                { _ = try $0.string("a") }, { _ = try $0.nullableString("a") }, { _ = try $0.optionalObject("a") },
            ]
            for read in reads {
                #expect(try Self.refusal(json, read) == "\(place) contains U+0000. Remove it.")
            }
        }
        #expect(try Self.refusal(#"{"a":{"b":["x"]}}"#) { _ = try $0.optionalValue("a") } == nil)
    }

    @Test("that admins see of a stream of events are one line of what can be seen")
    func shown() throws {
        for text in [#"a\u202eb"#, #"a\nb"#, #"a\u001bb"#, #"a\u3164"#, #"a\u009bb"#] {
            for read in [
                { _ = try $0.shownText("description") }, { _ = try EventStream.Change(&$0) },
            ] as [(inout JSONBodyDecoder) throws -> Void] {
                #expect(
                    try Self.refusal(#"{"description":"\#(text)"}"#, read)
                        == "$.description must be a text of one line without invisible characters.")
            }
        }
        #expect(try Self.refusal(#"{"description":"Zo\u00eb’s night"}"#) { _ = try EventStream.Change(&$0) } == nil)
    }
}
