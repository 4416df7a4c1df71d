import ArgumentParser
import Fixtures
import Testing

@testable import countersign

/// The page of keys, which operators follow after a leak.
@Suite("Keys/README.md")
struct KeyDocumentTests {
    private static func page() throws -> MarkdownDocument { try MarkdownDocument("Keys/README.md") }

    /// What stands between backticks in the first column of the first table.
    private static func rows(_ text: String) -> [String] {
        MarkdownDocument.rows(text).compactMap(\.first).flatMap(MarkdownDocument.words)
    }

    @Test("has a row for each file", arguments: KeyFiles.Name.allCases)
    func files(name: KeyFiles.Name) throws {
        #expect(Self.rows(try Self.page().text).contains(name.rawValue))
    }

    @Test("says what to do after a leak of each private file", arguments: KeyFiles.Name.allCases.filter(\.isPrivate))
    func leaks(name: KeyFiles.Name) throws {
        // The names before the colon of each item.
        let named = try Self.page().section("Leaked keys").split(separator: "\n- ").flatMap { item in
            MarkdownDocument.words(String(item.prefix { $0 != ":" }))
        }
        #expect(named.contains(name.rawValue))
    }

    @Test("says how each key is rotated, and so does the help", arguments: RotatedKey.allCases)
    func rotations(key: RotatedKey) throws {
        #expect(Self.rows(try Self.page().section("Rotation")).contains(key.rawValue))
        let words = KeysCommand.Rotate.helpMessage().split { !$0.isLetter && $0 != "-" }
        #expect(words.contains(Substring(key.rawValue)))
        #expect(KeyFiles.Name.allCases.contains { $0.rotation == key && $0.isPrivate }, "It rotates no file.")
    }
}
