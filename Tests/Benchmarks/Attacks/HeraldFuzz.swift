import Fixtures
import Foundation

/// `make fuzz`: mutated frames and calls of Herald against their readers. A broken promise ends it with its bytes, and
/// an input that costs too much with its seed.
struct HeraldFuzz {
    let count: Int
    let seed: UInt64

    private static let chunk = 100_000

    func run() throws {
        var (read, refused) = (0, 0)
        var costs = InputCosts()
        let start = ContinuousClock.now
        // What a usual input costs is known before any is judged.
        _ = try inputs(min(Self.chunk, count), seed: seed, &costs)
        costs.settle()
        for first in stride(from: 0, to: count, by: Self.chunk) {
            let seed = seed + UInt64(first / Self.chunk)
            FileHandle.standardError.write(Data("\r\(first.formatted()) of \(count.formatted()), seed \(seed)   ".utf8))
            let outcomes = try inputs(min(Self.chunk, count - first), seed: seed, &costs)
            read += outcomes.read
            refused += outcomes.refused
            try costs.requireBounded()
        }
        let seconds = (ContinuousClock.now - start).components.seconds
        FileHandle.standardError.write(
            Data(
                """
                \r\(read.formatted()) read, \(refused.formatted()) refused, no promise broken, \(seconds) s
                \(costs.summary)

                """.utf8))
    }

    private func inputs(
        _ count: Int, seed: UInt64, _ costs: inout InputCosts
    ) throws -> (read: Int, refused: Int) {
        var (read, refused) = (0, 0)
        var mutation = HeraldMutation(seed: seed)
        for index in 0..<count {
            let input = mutation.input()
            let outcome = costs.measure(input.kind, "seed \(seed), input \(index)", size: input.size) {
                Result { () throws(HeraldMutation.Broken) in try HeraldMutation.read(input) }
            }
            switch try outcome.get() {
            case .read: read += 1
            case .refused: refused += 1
            }
        }
        return (read, refused)
    }
}
