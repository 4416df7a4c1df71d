import Fixtures
import Foundation
import Testing

/// Cards of a generator that was written without knowledge of the checks: what forgers get wrong, kind by kind, and the
/// cards of people who forge nothing.
@Suite("Forged cards")
struct ForgedCardTests {
    @Test("are refused or reviewed but for five in a hundred, if anything in them is wrong")
    func forged() async throws {
        let cards = try await ForgedCard.all("--seed", "20")
        let wrong = cards.filter { $0.group != "consistent" }
        let (forged, consistent) = (ForgedCardTable(wrong), ForgedCardTable(cards.filter { $0.group == "consistent" }))
        print("forged cards:\n\(forged.text)")
        print("consistent forgeries, which no check of the data can tell:\n\(consistent.text)")
        #expect(forged.total >= 1000)
        #expect(Set(wrong.map(\.kind)).count >= 40)
        #expect(consistent.total >= 200)
        #expect(
            forged.count(.verified) * 100 <= forged.total * 5,
            "\(forged.count(.verified)) of \(forged.total) verified:\n\(forged.worst(.verified))")
    }

    @Test("cost honest people little: 97 in a hundred of their cards are verified")
    func honest() async throws {
        let honest = ForgedCardTable(try await ForgedCard.all("--seed", "20", "--honest", "10000"))
        print("honest cards:\n\(honest.text)")
        #expect(honest.total == 10_000)
        #expect(
            honest.count(.verified) * 100 >= honest.total * 97,
            "\(honest.count(.verified)) verified:\n\(honest.worst(.refused))\n\(honest.worst(.reviewed))")
    }

    @Test("are described kind by kind in the page of codes")
    func description() async throws {
        let page = try String(
            contentsOf: RunningService.root.appending(path: "Sources/API/API.docc/Codes.md"), encoding: .utf8)
        let heading = try #require(page.range(of: "\n## Forged cards\n"))
        let rest = page[heading.upperBound...]
        let section = rest[..<(rest.range(of: "\n## ")?.lowerBound ?? rest.endIndex)]
        let rows = section.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
        let described = rows.map { row -> [String] in
            let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            return [cells.first ?? ""] + (cells.last ?? "").matches(of: /`([a-z0-9_]+)`/).map { String($0.1) }
        }
        var groups: [String: [String]] = [:]
        for line in try await ForgedCard.written(["--kinds"]).split(separator: "\n") {
            let parts = line.split(separator: "\t").map(String.init)
            try #require(parts.count == 3)
            groups[parts[0], default: []].append(parts[1])
        }
        #expect(groups.values.joined().count == Set(groups.values.joined()).count)
        #expect(Set(described) == Set(groups.map { group, kinds in [group] + kinds }))
    }
}
