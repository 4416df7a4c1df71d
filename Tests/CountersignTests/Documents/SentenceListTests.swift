import Domain
import Fixtures
import Foundation
import Testing

@Suite("The list of all sentences")
struct SentenceListTests {
    @Test("has each code and each check of a card with its sentences, whole, and no sentence twice under one heading")
    func complete() async throws {
        let listed = try await Command.run(
            "python3", ["-B", RunningService.root.appending(path: ".ci/sentences").path])
        #expect(listed.status == 0, "\(listed.errors)")
        var sentences: [String: [Substring]] = [:]
        var heading = ""
        for line in listed.output.split(separator: "\n") {
            if line.hasPrefix("# ") { heading = String(line.dropFirst(2)) }
            if line.hasPrefix("- ") { sentences[heading, default: []].append(line) }
        }
        for code in Refusal.Code.allCases { #expect(sentences["code \(code.rawValue)"] != nil, "\(code)") }
        for check in CardCheck.Name.allCases { #expect(sentences["check \(check.rawValue)"] != nil, "\(check)") }
        for kind in ["findings of doctor", "help", "log"] { #expect(sentences[kind] != nil, "\(kind)") }
        for (heading, lines) in sentences { #expect(Set(lines).count == lines.count, "\(heading)") }
        // In three parts, with values.
        let beginning =
            "- The store at {url.place} belongs to cell {other}, and this command to cell {self}. Set the cell "
        let command = try #require(sentences["errors of commands"]?.first { $0.hasPrefix(beginning) })
        #expect(command.contains("(--store).  (countersign/"), "\(command)")
    }
}
