import Fixtures
import HTTPTypes
import Testing

@testable import API

@Suite("A field of a request")
struct RequestFieldTests {
    @Test("is parsed up to its bound, and like none beyond it")
    func bounds() {
        for field in RequestField.bounded {
            #expect(field.longest <= 1024, "\(field.name)")
            for (length, isRead) in [(1, true), (field.longest, true), (field.longest + 1, false), (15_000, false)] {
                let fields = HTTPFields([HTTPField(name: field.name, value: String(repeating: ",", count: length))])
                #expect((fields.text(of: field) != nil) == isRead, "\(field.name): \(length)")
            }
        }
    }

    @Test("is measured with all fields of its name")
    func repeated() {
        for field in RequestField.bounded {
            let value = String(repeating: ";", count: field.longest / 4)
            var fields = HTTPFields()
            for _ in 0..<3 { fields.append(HTTPField(name: field.name, value: value)) }
            #expect(fields.text(of: field)?.utf8.count == field.longest / 4 * 3 + 4, "\(field.name)")
            for _ in 0..<2 { fields.append(HTTPField(name: field.name, value: value)) }
            #expect(fields.text(of: field) == nil && fields.items(of: field).isEmpty, "\(field.name)")
        }
    }

    @Test("that no client sends changes no answer: JSON, DER, a whole list, a refusal of its media type")
    func meaning() {
        func fields(_ name: HTTPField.Name, _ item: String) -> HTTPFields {
            HTTPFields([HTTPField(name: name, value: item + "," + String(repeating: "a,", count: 1900))])
        }
        #expect(!HTMLPage.wantsHTML(fields(.accept, "text/html")))
        #expect(!fields(.accept, "application/x-pem-file").accept("application/x-pem-file"))
        #expect(!EntityTag("7").isKnown(to: fields(.ifNoneMatch, "\"7\"")))
        #expect(!fields(.expect, "100-continue").waitsForPermission)
        #expect(fields(.contentLength, "1").declaredLength == .max)
        #expect(HTTPFields().declaredLength == nil)
    }

    @Test("names a media type in any case, among others and with a weight")
    func types() {
        for (value, isNamed) in [
            ("a/b", true), ("A/B;q=0.5", true), ("c/d, a/b ;x=1", true), ("a/bc", false), ("xa/b", false), ("", false),
            ("c/d;x=a/b", false),
        ] {
            #expect(HTTPFields([HTTPField(name: .accept, value: value)]).accept("a/b") == isNamed, "\(value)")
        }
    }

    /// Lines that read fields by themselves.
    private static let allowed: [String: String] = [
        "Herald/HeraldCalls.swift": "A field of our own responses.",
        "Shared/SameOrigin.swift": "Values that are compared as bytes.",
    ]

    @Test("is read only by its bound")
    func rule() throws {
        let read = /(?i:headers|fields)\[(?:values: |fields: )?[\w.]+\](?! =|\.append)/
        var found: Set<String> = []
        for file in try ["API", "Console"].flatMap({ try SourceFile.all(of: $0) })
        where file.name != "RequestField.swift" {
            let lines = file.text.split(separator: "\n").filter {
                !$0.drop { $0 == " " }.hasPrefix("//") && $0.contains(read)
            }
            guard !lines.isEmpty else { continue }
            found.insert(file.path)
            #expect(lines.count == 1 && Self.allowed[file.path] != nil, "\(file.path): use RequestField: \(lines)")
        }
        #expect(found == Set(Self.allowed.keys))
    }
}
