import Foundation
import Testing

@testable import Database

@Suite struct StoreURLTests {
    @Test("The scheme names the engine", arguments: ["countersign.db", "/var/lib/countersign/store.db", "a:b"])
    func sqlite(path: String) throws {
        #expect(try StoreURL.parse("sqlite:\(path)") == .sqlite(path: path))
    }

    @Test(
        "An address that this build cannot open is refused with the scheme that it can",
        arguments: [
            "", "countersign.db", "sqlite:", "SQLITE:x", "sqlite::memory:", "sqlite:a\u{0}b", "mysql://localhost/x",
            "postgresql://localhost/x", "sqlite:" + String(repeating: "x", count: 5000),
        ])
    func refused(address: String) {
        let error = #expect(throws: StoreError.url(reason: "")) { try StoreURL.parse(address) }
        #expect(error?.description.contains("sqlite:") ?? false)
    }

    @Test("A line keeps the order of arrival, whatever the amounts that are taken, and knows its bound")
    func waitingLine() {
        var line = WaitingLine<Int>()
        var (next, expected, state) = (0, 0, UInt64(42))
        for _ in 0..<2000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let amount = Int(state >> 33) % 40
            if state >> 62 & 1 == 0 {
                for _ in 0..<amount {
                    next += line.append(next) ? 1 : 0
                }
            } else {
                let taken = line.take(atMost: amount)
                #expect(taken == Array(expected..<(expected + taken.count)))
                expected += taken.count
            }
            #expect(line.count == next - expected)
        }
        let free = WaitingLine<Int>.capacity - line.count
        let appended = (0..<(free + 10)).filter { line.append($0) }
        #expect(appended.count == free)
    }
}
