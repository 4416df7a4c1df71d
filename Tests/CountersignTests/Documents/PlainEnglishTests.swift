import Fixtures
import Foundation
import Testing

@Suite("Documents are in plain English")
struct PlainEnglishTests {
    @Test("No sentence has more than 35 words")
    func lengths() throws {
        let documents = try MarkdownDocument.all()
        #expect(documents.count >= 12)
        for document in documents {
            for (line, sentence) in document.sentences() {
                let words = sentence.split(separator: " ").count { $0.contains { $0.isLetter || $0.isNumber } }
                #expect(words <= 35, "\(document.path):\(line) has \(words) words: \(sentence)")
            }
        }
    }

    @Test("A semicolon is rare: one in twenty sentences at most, and as few in the threats and defences")
    func semicolons() throws {
        let sentences = try MarkdownDocument.all().flatMap { $0.sentences() }.map(\.text)
        #expect(sentences.count > 2000)
        #expect(Self.semicolons(in: sentences) * 20 <= sentences.count)
        let threats = MarkdownDocument.rows(try MarkdownDocument("Policies/ThreatModel.md").text)
        let cells = threats.flatMap { $0.dropLast() }.map { $0.replacing(/`[^`]*`/, with: "") }
        #expect(Self.semicolons(in: cells) * 20 <= cells.count)
    }

    private static func semicolons(in texts: [String]) -> Int {
        texts.reduce(0) { $0 + $1.utf8.count { $0 == UInt8(ascii: ";") } }
    }

    /// Words that only this project used, or used in a sense of its own. The field has plain ones for all of them.
    static let privateWords = [
        "house", "rooms", "walls", "surroundings", "foresee", "foreseen", "asker", "accepter", "shut out", "shuts out",
        "in passing", "is nobody's", "says that it lives", "belongs into", "put away", "told", "tells",
        "an unforeseen fault",
    ]

    @Test("No document uses a word of the project's own if the field has one")
    func words() throws {
        for document in try MarkdownDocument.all() {
            // Names of the sources, between backticks, are theirs.
            let text = document.text.replacing(/`[^`\n]*`/, with: "").lowercased().replacing("\n", with: " ")
            for word in Self.privateWords {
                let found = text.ranges(of: word).contains { range in
                    let before = text[..<range.lowerBound].last?.isLetter ?? false
                    let after = text[range.upperBound...].first?.isLetter ?? false
                    return !before && !after
                }
                #expect(!found, "\(document.path) says \(word)")
            }
        }
    }

    /// Nouns of what the service counts, except those that are verbs too, such as `names`.
    private static let counted = [
        "apps", "authorizations", "claims", "contacts", "days", "devices", "elements", "entries", "events", "failures",
        "issuers", "keys", "messages", "migrations", "numbers", "parts", "persons", "providers", "requests", "rows",
        "sessions", "streams", "tables", "tasks", "texts", "times", "users",
    ]

    /// Numbers in a literal whose noun is always in the plural, without those that bound something.
    private static func plurals(in line: some StringProtocol) -> [String] {
        guard counted.contains(where: { line.contains(") \($0)") }) else { return [] }
        let number = /((?i:than|most|least|to) )?\\\((?:[^()"]|\([^()]*\))*\) ([a-z]+)\b/
        return String(line).matches(of: number).filter { $0.1 == nil && counted.contains(String($0.2)) }
            .map { String($0.0) }
    }

    @Test("A number that may be one has its noun from counting(_:), so no sentence says 1 sessions")
    func numbers() throws {
        #expect(Self.plurals(in: #""They have \(ended.count) sessions and \(max(0, 1)) users.""#).count == 2)
        #expect(Self.plurals(in: #""More than \(most) events, at most \(limit) keys, \(found) waits""#) == [])
        // Clients and examples have no use of it, and the console has its own.
        let others = ["SwiftSDK/", "Samples/", "SampleProvider/", "Console/"]
        for file in try SourceFile.all(below: "Sources") where !others.contains(where: file.path.hasPrefix) {
            for line in file.text.split(separator: "\n") {
                for plural in Self.plurals(in: line) { Issue.record("\(file.path): \(plural)") }
            }
        }
    }

    @Test("Sources and documents have no turn of phrase that is not plain")
    func turns() async throws {
        let measured = try await Self.measure(RunningService.root.path)
        #expect(measured.status == 0, "\(measured.output)\(measured.errors)")
        #expect(measured.output.contains("private words: 0 of"))
    }

    @Test("Each turn of phrase is found in a comment, a literal, a document or a description")
    func planted() async throws {
        let scratch = try ScratchDirectory()
        let folder = scratch.file("Sources/Planted")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try scratch.write(Self.source, "Sources/Planted/Planted.swift")
        try scratch.write("The service tells the `caller`.\n", "Sources/Planted/Planted.md")
        try scratch.write(#"{"paths": [{"description": "Messages behind a number"}]}"#, "Sources/Planted/openapi.json")
        let measured = try await Self.measure(scratch.path)
        #expect(measured.status == 1, "\(measured.errors)")
        let counts = measured.output.split(separator: "\n").filter { !$0.hasPrefix(" ") }
        #expect(counts.count == 10)
        for line in counts { #expect(line.contains(": 1 of 11 texts"), "\(line)") }
    }

    /// One turn of phrase a declaration, but none in the last one.
    private static let source = """
        /// The same for a much larger number.
        let one = 1
        // The older key still counts.
        let two = 2
        // It is `nil` where the file is missing.
        let three = "Whoever opens the file closes it."
        // The text is no host.
        let four = "The certificate is valid no more."
        // The verifier judges a token.
        let five = 5
        /// Only three words.
        let six = 6
        // The server counts requests behind a reverse proxy, and `tells` nothing.
        let seven = 7

        """

    private static func measure(_ folder: String) async throws -> Command.Result {
        try await Command.run("python3", ["-B", RunningService.root.appending(path: ".ci/english").path, folder])
    }
}
