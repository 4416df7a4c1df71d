import ArgumentParser
import Fixtures
import Foundation
import Testing

@testable import countersign

/// What a restore without the replaced store brings back, and says so.
@Suite("What to repeat by hand after a restore without the replaced store")
struct RepeatByHandTests {
    /// What needs nobody: the restore skips numbers of the revocation list, and the audit log is only named.
    private static let needsNobody: (tables: Set<String>, losses: Set<String>) = (
        ["revocation_lists"], ["lists", "audit"]
    )

    @Test("has a row for each table whose removals are replayed otherwise")
    func tables() {
        let listed = RepeatByHand.allCases.reduce(into: Self.needsNobody.tables) { $0.formUnion($1.tables) }
        let replayed = RestoreFate.ofTables.filter { $0.value == .replayed }.map(\.key)
        #expect(listed == Set(replayed))
    }

    @Test("has a row for each field of what the restore reads from the replaced store")
    func losses() throws {
        let file = try #require(
            try SourceFile.all(below: "Sources/Operations/Migration").first { $0.name == "RestoreStore.swift" })
        let start = try #require(file.text.range(of: "private struct Losses: Sendable {\n"))
        let end = try #require(file.text.range(of: "init(", range: start.upperBound..<file.text.endIndex))
        let fields = file.text[start.upperBound..<end.lowerBound].matches(of: /let (\w+):/).map { String($0.output.1) }
        #expect(fields.count > 10)
        let listed = RepeatByHand.allCases.reduce(into: Self.needsNobody.losses) { $0.formUnion($1.losses) }
        #expect(listed == Set(fields))
    }

    @Test("names commands that exist, with their options", arguments: RepeatByHand.allCases)
    func commands(of change: RepeatByHand) throws {
        for command in change.commands {
            let words = command.split(separator: " ").map(String.init)
            #expect(throws: Never.self, "\(command)") { _ = try Countersign.parseAsRoot(words) }
            #expect(change.row.contains("countersign \(command)"))
        }
        #expect(!change.row.hasSuffix(": "), "\(change.row)")
    }

    @Test("is said with --lost alone")
    func rows() {
        let report = Report(RepeatByHand.entries(isLost: true))
        #expect(report.tables.flatMap(\.self).count == RepeatByHand.allCases.count)
        #expect(Report(RepeatByHand.entries(isLost: false)).tables.flatMap(\.self).isEmpty)
    }
}
