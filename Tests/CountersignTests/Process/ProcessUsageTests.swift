import Foundation
import Testing

@testable import countersign

@Suite("What the system knows of the process")
struct ProcessUsageTests {
    @Test("is read from the line of /proc, whatever the program is called")
    func stat() throws {
        let fields = "S 1 2 3 4 5 6 7 8 9 10 150 50 0 0 20 0 4 0 1000 4096 3 18446744073709551615"
        for name in ["(countersign)", "(a b) S 9 9 (c)", "()", "(\n)"] {
            let usage = try #require(ProcessUsage.Usage(stat: "4711 \(name) \(fields)", ticks: 100, page: 4096))
            #expect(usage.processorSeconds == 2 && usage.startSeconds == 10)
            #expect(usage.virtualBytes == 4096 && usage.residentBytes == 12_288)
        }
        for text in ["", "4711 countersign S 1", "4711 (x)", "4711 (x) S 1 2 3", "1 (x) " + fields.dropLast(40)] {
            #expect(ProcessUsage.Usage(stat: text, ticks: 100, page: 4096) == nil, "\(text)")
        }
    }

    @Test("has a sentence, a type and a value for each metric, and none of them is nothing for a process that runs")
    func lines() {
        let lines = ProcessUsage.lines()
        #expect(lines.count == 18)
        for place in stride(from: 0, to: lines.count - 2, by: 3) {
            let name = lines[place + 2].split(separator: " ")[0]
            #expect(lines[place].hasPrefix("# HELP \(name) ") && lines[place].hasSuffix("."))
            #expect(lines[place + 1].hasPrefix("# TYPE \(name) "))
            #expect(lines[place + 2].split(separator: " ").last.flatMap { Double($0) } ?? 0 > 0, "\(lines[place + 2])")
        }
    }
}
