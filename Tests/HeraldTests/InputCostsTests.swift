import Fixtures
import Testing

/// The check of `make fuzz`, on a clock that the inputs move.
@Suite("What an input costs its reader")
struct InputCostsTests {
    private final class Clock {
        var time: Int64 = 0
    }

    private let clock = Clock()

    /// Reads 3,000 inputs that cost as much, and knows the median.
    private func settled(at cost: Int64) -> InputCosts {
        var costs = InputCosts { [clock] in clock.time }
        for number in 0..<3000 { costs.measure("message", "input \(number)") { clock.time += cost } }
        costs.settle()
        return costs
    }

    @Test("is too much beyond 20 times the usual, however often it is read")
    func slow() throws {
        var costs = settled(at: 100)
        costs.measure("message", "input 7") { clock.time += 2000 }
        try costs.requireBounded()
        costs.measure("message", "input 8") { clock.time += 2001 }
        let thrown = #expect(throws: InputCosts.TooCostly.self) { try costs.requireBounded() }
        #expect(thrown?.description.contains("input 8: 2001 ns") == true)
    }

    @Test("is its least cost, as another program may have delayed it many times")
    func delayed() throws {
        var (costs, turns) = (settled(at: 100), 0)
        costs.measure("message", "input 7") {
            turns += 1
            clock.time += turns < 50 ? 90_000 : 1500
        }
        #expect(turns == 50)
        try costs.requireBounded()
    }

    @Test("is compared with the last inputs on a machine that has become slow")
    func busy() throws {
        var costs = settled(at: 100)
        for number in 0..<1500 { costs.measure("message", "input \(number)") { clock.time += 150 } }
        costs.measure("message", "input 7") { clock.time += 2900 }
        try costs.requireBounded()
        costs.measure("message", "input 8") { clock.time += 3100 }
        #expect(throws: InputCosts.TooCostly.self) { try costs.requireBounded() }
    }

    @Test("may grow as the input does, and no faster")
    func size() throws {
        var costs = InputCosts { [clock] in clock.time }
        for number in 0..<3000 { costs.measure("message", "input \(number)", size: 50) { clock.time += 100 } }
        costs.settle()
        costs.measure("message", "input 7", size: 5000) { clock.time += 20_000 }
        costs.measure("message", "input 8", size: 5) { clock.time += 2000 }
        try costs.requireBounded()
        costs.measure("message", "input 9", size: 100) { clock.time += 4100 }
        #expect(throws: InputCosts.TooCostly.self) { try costs.requireBounded() }
    }
}
