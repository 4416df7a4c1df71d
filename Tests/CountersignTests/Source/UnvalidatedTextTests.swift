import Fixtures
import Testing

/// Swift compares text by canonical equivalence, at a cost that grows with the square of a run of combining marks. What runs
/// before a request is validated compares bytes.
@Suite("Text that is not validated yet")
struct UnvalidatedTextTests {
    /// Comparisons of text: by operator with a literal, by prefix, by search, by a case of a literal.
    private static var comparisons: [Regex<Substring>] {
        [
            /[=!]= "/, /" [=!]=/, /\.has(?:Prefix|Suffix)\(/, /\.contains\("/, /case "/, /\.lowercased\(\)/,
            /\.split\(separator: "/, /(?:path|contentType|value|name) == (?!nil)/,
        ]
    }

    /// How many lines of a file compare text that is short, validated or our own.
    private static let allowed: [String: Int] = [
        // Names of 4 and 17 bytes; codings, which come after the check of all fields.
        "MessageRules.swift": 4,
        // A line of at most 107 bytes.
        "ProxyLine.swift": 4,
        // Fields that the rules have passed.
        "RequestBounds.swift": 2,
        // Fields of our own responses.
        "MessageRulesHandler.swift": 1, "FastPathHandler.swift": 1, "EndStreamHandler.swift": 2,
    ]

    @Test("is compared as bytes, in everything between a connection and its routes")
    func bytes() throws {
        let files = try ["API/FastPath", "API/Channels", "API/Connections"].flatMap {
            try SourceFile.all(below: "Sources/\($0)")
        }
        #expect(files.count > 20)
        for file in files {
            let lines = file.text.split(separator: "\n").filter { line in
                !line.drop { $0 == " " }.hasPrefix("//") && Self.comparisons.contains { line.contains($0) }
            }
            #expect(lines.count == Self.allowed[file.name, default: 0], "\(file.name): \(lines)")
        }
    }

    @Test("is compared by code that is compiled for its type, not by one that looks the type up")
    func specialized() throws {
        let shared = try #require(try SourceFile.all(of: "Encoding").first { $0.name == "StreamSafeText.swift" })
        let declarations = shared.text.split(separator: "\n").filter { $0.contains(#/^ {4}(?:@\w+ )?(?:func|var) /#) }
        #expect(declarations.count == 2 && declarations.allSatisfy { $0.contains("@inlinable") })
        // A key path to such a property is read at run time.
        for file in try ["API/FastPath", "API/Channels"].flatMap({ try SourceFile.all(below: "Sources/\($0)") }) {
            #expect(!file.text.contains(/[(\[]\\\.\w/), "\(file.name) uses a key path: write a closure.")
        }
    }

    @Test("is compared as bytes where a member of JSON is looked for")
    func members() throws {
        let files = try ["Encoding", "API"].flatMap { try SourceFile.all(of: $0) }
        #expect(files.count > 100)
        for file in files { #expect(!file.text.contains("{ $0.name == name }"), "\(file.path)") }
    }
}
