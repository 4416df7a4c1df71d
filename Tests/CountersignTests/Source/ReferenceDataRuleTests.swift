import Domain
import Fixtures
import Foundation
import Testing

@testable import countersign

/// A table that nobody declared gets old unseen.
@Suite("The rule of reference data")
struct ReferenceDataRuleTests {
    /// Targets that may contain facts of others. The tables of `Repositories` are those of its schema.
    private static let targets = [
        "PhoneNumbers", "Cards", "Domain", "SwiftSDK/Encoding", "Tokens", "Authority", "Delivery", "Operations",
    ]
    /// Tables that were written for this project, so that no newer edition exists.
    private static let own: Set = ["Cards/Shared/NameVariants.swift", "Delivery/Texts/TextLanguage.swift"]

    @Test("Every table of four rows or more is declared, or known to be our own")
    func declared() throws {
        let declared = Set(ReferenceData.all.map(\.file))
        var found: Set<String> = []
        for target in Self.targets {
            for file in try SourceFile.all(below: "Sources/\(target)") where Self.rows(of: file.text) >= 4 {
                found.insert("\(target)/\(file.path)")
            }
        }
        #expect(found.subtracting(declared) == Self.own)
        // The others are rules in code, which no pattern finds.
        #expect(found.isSuperset(of: ["PhoneNumbers/PhoneMetadata.swift", "Cards/Evaluation/IssuerNumberRule.swift"]))
        for file in declared {
            #expect(FileManager.default.fileExists(atPath: RunningService.root.appending(path: "Sources/\(file)").path))
        }
    }

    @Test("No target contains a file of data beside its Swift sources")
    func files() throws {
        for target in Self.targets {
            let folder = RunningService.root.appending(path: "Sources/\(target)").path
            for path in try FileManager.default.subpathsOfDirectory(atPath: folder) where path.contains(".") {
                #expect(path.hasSuffix(".swift") || path.hasSuffix(".md"), "\(target)/\(path)")
            }
        }
    }

    @Test("The declared versions are those that the tables were made from")
    func versions() throws {
        func text(_ path: String) throws -> String {
            try String(contentsOf: RunningService.root.appending(path: path), encoding: .utf8)
        }
        func version(_ name: String) throws -> String {
            try #require(ReferenceData.all.first { $0.name == name }).version
        }
        let (plans, numbers) = (try version("numbering_plans"), try version("national_numbers"))
        #expect(try text("Sources/PhoneNumbers/PhoneMetadata.swift").contains("from phonenumbers \(plans):"))
        #expect(try text("Sources/PhoneNumbers/NOTICE.md").contains("version \(plans),"))
        let pins = try text("Tests/Interop/requirements.txt").split(separator: "\n")
        #expect(pins.contains("phonenumbers==\(plans)") && pins.contains("python-stdnum==\(numbers)"))
    }

    /// The longest run of lines that consist of literals, in code or in a text of several lines.
    private static func rows(of text: String) -> Int {
        var (longest, run, isText) = (0, 0, false)
        for line in text.split(separator: "\n").map({ $0.drop { $0 == " " } }) where !line.hasPrefix("//") {
            let isQuote = line.contains("\"\"\"")
            if isQuote { isText.toggle() }
            let isRow = isQuote ? false : isText ? isTextRow(line) : isCodeRow(line)
            run = isRow ? run + 1 : 0
            longest = max(longest, run)
        }
        return longest
    }

    /// Without a word in lower case, as sentences and statements have them.
    private static func isTextRow(_ line: Substring) -> Bool {
        !line.contains(#"\("#)
            && !line.split(separator: " ").contains { $0.wholeMatch(of: /[a-z_][a-z_.,'()-]*/) != nil }
    }

    /// Only literals and signs are left without labels and names of initializers.
    private static func isCodeRow(_ line: Substring) -> Bool {
        guard line.contains("\"") else { return false }
        let rest = line.replacing(/"(?:[^"\\]|\\[^(])*"|[0-9][0-9A-Fa-fx_]*/, with: "")
            .replacing(/[A-Z][A-Za-z]*\(|[a-z][A-Za-z]*:/, with: "")
        return rest.allSatisfy { " [](),:.-+;".contains($0) }
    }
}
