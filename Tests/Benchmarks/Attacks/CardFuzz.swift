import Cards
import Domain
import Fixtures
import Foundation

/// `make fuzz`: mutated cards against the readers, many more than the tests take. A crash ends it with the seed shown,
/// and so does a card that costs too much.
struct CardFuzz {
    let count: Int
    let seed: UInt64

    private static let chunk = 100_000

    /// Reads so many barcodes and a tenth as many machine readable zones.
    func run() throws {
        guard let today = CalendarDate(year: 2026, month: 11, day: 21) else { return }
        var (read, refused) = (0, 0)
        var costs = InputCosts()
        let start = ContinuousClock.now
        // What a usual card costs is known before any is judged.
        _ = try cards(min(Self.chunk, count), seed: seed, today, &costs)
        costs.settle()
        for first in stride(from: 0, to: count, by: Self.chunk) {
            let seed = seed + UInt64(first / Self.chunk)
            // The seed goes out before what it makes is read.
            FileHandle.standardError.write(Data("\r\(first.formatted()) of \(count.formatted()), seed \(seed)   ".utf8))
            let outcomes = try cards(min(Self.chunk, count - first), seed: seed, today, &costs)
            read += outcomes.read
            refused += outcomes.refused
            try costs.requireBounded()
        }
        let seconds = (ContinuousClock.now - start).components.seconds
        FileHandle.standardError.write(
            Data(
                """
                \r\(read.formatted()) read, \(refused.formatted()) refused, no crash, \(seconds) s
                \(costs.summary)

                """.utf8))
    }

    private func cards(
        _ count: Int, seed: UInt64, _ today: CalendarDate, _ costs: inout InputCosts
    ) throws -> (read: Int, refused: Int) {
        var (read, refused) = (0, 0)
        var mutation = CardMutation(seed: seed)
        for index in 0..<count {
            let name = "seed \(seed), card \(index)"
            let result: Result<ScannedCard, Refusal>
            if index % 11 == 10 {
                let zone = mutation.zone()
                result = costs.measure("zone", name) {
                    Result { () throws(Refusal) in
                        .machineReadable(try MachineReadableZone.read(zone, today: today))
                    }
                }
            } else {
                let barcode = mutation.barcode()
                result = costs.measure("barcode", name) {
                    Result { () throws(Refusal) in try ScannedCard.read(barcode: barcode, today: today) }
                }
            }
            switch result {
            case .success(let card):
                read += 1
                guard index % 10 == 0 else { continue }
                costs.measure("assessment", name) {
                    _ = CardAssessment(card, at: today.start, policy: CardPolicy(), displayName: "Michael Sample")
                    _ = CardFingerprint(card.identityCard)
                }
            case .failure(let refusal):
                refused += 1
                guard refusal.code == .malformedRequest else { throw BenchmarkError("refused as \(refusal.code)") }
            }
        }
        return (read, refused)
    }
}
