import Fixtures
import Foundation
import Testing

/// Every defence names the test that shows it, and the test is there.
@Suite("The threat model")
struct ThreatModelTests {
    /// The functions of each suite, by the suite's name; those of a file that extends it are among them.
    private static func suites() throws -> [String: Set<String>] {
        var found: [String: Set<String>] = [:]
        for file in try SourceFile.all(below: "Tests") {
            let functions = Set(file.text.matches(of: /func (\w+)/).map { String($0.1) })
            for suite in file.text.matches(of: /(?:struct|class|extension|actor|enum) (\w+Tests)\b/) {
                found[String(suite.1), default: []].formUnion(functions)
            }
        }
        return found
    }

    private func isThere(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: RunningService.root.appending(path: path).path)
    }

    @Test("names tests that are there")
    func tests() throws {
        let suites = try Self.suites()
        let rows = MarkdownDocument.rows(try MarkdownDocument("Policies/ThreatModel.md").text)
        #expect(rows.count > 120)
        for row in rows {
            var suite = ""
            let names = MarkdownDocument.words(row.last ?? "")
            #expect(row.count == 3 && !names.isEmpty, "\(row.first ?? "")")
            for name in names where name != "make fuzz" {
                if let method = name.wholeMatch(of: /\.(\w+)/) {
                    #expect(suites[suite]?.contains(String(method.1)) == true, "\(suite)\(name)")
                } else if let script = name.wholeMatch(of: /(?:Tests\/Interop\/)?(\w+\/\w+\.py)(?: (\w+))?/) {
                    let path = "Tests/Interop/\(script.1)"
                    #expect(isThere(path), "\(name)")
                    guard let function = script.2, isThere(path) else { continue }
                    #expect(try MarkdownDocument(path).text.contains("def \(function)("), "\(name)")
                } else if let test = name.wholeMatch(of: /(?:\w+Tests\.)?([A-Z]\w*Tests)(?:\.(\w+))?/) {
                    suite = String(test.1)
                    #expect(suites[suite] != nil || isThere("Tests/\(suite)"), "\(name)")
                    guard let method = test.2 else { continue }
                    #expect(suites[suite]?.contains(String(method)) == true, "\(name)")
                } else {
                    Issue.record("\(name) is no test")
                }
            }
        }
    }
}

/// The tables of the runbooks against the policies as shipped.
@Suite("The runbooks")
struct RunbookTests {
    @Test("say how long things are kept as the policies say it")
    func retention() throws {
        let units = ["day": "d", "days": "d", "min": "m", "hours": "h"]
        let runbooks = try MarkdownDocument("Sources/countersign/countersign.docc/Runbooks.md")
        let policies = try ["retention", "cards", "nonces", "phones"].map {
            try MarkdownDocument("Policies/\($0).yaml").text
        }.joined(separator: "\n")
        let said = runbooks.section("Backups and retention").matches(of: /`([a-z_]+)`: ([0-9]+) (days?|min|hours)/)
        #expect(said.count >= 5)
        for entry in said {
            let unit = try #require(units[String(entry.3)])
            #expect(policies.contains("\n\(entry.1): \(entry.2)\(unit)\n"), "\(entry.output.0)")
        }
        // Nothing of retention.yaml is left out.
        for line in try MarkdownDocument("Policies/retention.yaml").text.matches(of: /\n([a-z_]+):\s/) {
            #expect(said.contains { $0.1 == line.1 }, "\(line.1)")
        }
    }
}
