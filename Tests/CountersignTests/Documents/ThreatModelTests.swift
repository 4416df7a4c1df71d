import Fixtures
import Foundation
import Testing

/// Every defence names the test that shows it, and the test is there.
@Suite("The threat model")
struct ThreatModelTests {
    @Test("names tests that are there")
    func tests() throws {
        let tests = try NamedTests()
        let rows = MarkdownDocument.rows(try MarkdownDocument("Policies/ThreatModel.md").text)
        #expect(rows.count > 120)
        for row in rows {
            var suite = ""
            let names = MarkdownDocument.words(row.last ?? "")
            #expect(row.count == 3 && !names.isEmpty, "\(row.first ?? "")")
            for name in names where name != "make fuzz" {
                if let method = name.wholeMatch(of: /\.(\w+)/) {
                    #expect(tests.has(method.1, in: suite), "\(suite)\(name)")
                } else if let script = name.wholeMatch(of: /(?:Tests\/Interop\/)?(\w+\/\w+\.py)(?: (\w+))?/) {
                    #expect(NamedTests.isScript(script.1, with: script.2), "\(name)")
                } else if let test = name.wholeMatch(of: /(?:\w+Tests\.)?([A-Z]\w*Tests)(?:\.(\w+))?/) {
                    suite = String(test.1)
                    guard let method = test.2 else {
                        #expect(tests.has(suite), "\(name)")
                        continue
                    }
                    #expect(tests.has(method, in: suite), "\(name)")
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
        let policies = try ["retention", "cards", "nonces", "phones", "streams"].map {
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
