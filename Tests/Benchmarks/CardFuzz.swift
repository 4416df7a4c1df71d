import Cards
import Domain
import Fixtures
import Foundation

/// `make fuzz`: mutated cards against the readers, many more than the tests take. A crash ends it with the seed shown.
struct CardFuzz {
    let count: Int
    let seed: UInt64

    /// Reads so many barcodes and a tenth as many machine readable zones.
    func run() throws {
        guard let today = CalendarDate(year: 2026, month: 11, day: 21) else { return }
        var (read, refused) = (0, 0)
        let start = ContinuousClock.now
        let chunk = 100_000
        for first in stride(from: 0, to: count, by: chunk) {
            let seed = seed + UInt64(first / chunk)
            // The seed goes out before what it makes is read.
            FileHandle.standardError.write(Data("\r\(first.formatted()) of \(count.formatted()), seed \(seed)   ".utf8))
            var mutation = CardMutation(seed: seed)
            for index in 0..<min(chunk, count - first) {
                do throws(Refusal) {
                    let scanned =
                        try index % 11 == 10
                        ? ScannedCard.machineReadable(MachineReadableZone.read(mutation.zone(), today: today))
                        : .read(barcode: mutation.barcode(), today: today)
                    read += 1
                    if index % 10 == 0 {
                        _ = CardAssessment(
                            scanned, at: today.start, policy: CardPolicy(), displayName: "Michael Sample")
                        _ = CardFingerprint(scanned.identityCard)
                    }
                } catch {
                    refused += 1
                    guard error.code == .malformedRequest else { throw BenchmarkError("refused as \(error.code)") }
                }
            }
        }
        let seconds = (ContinuousClock.now - start).components.seconds
        FileHandle.standardError.write(
            Data("\r\(read.formatted()) read, \(refused.formatted()) refused, no crash, \(seconds) s\n".utf8))
    }
}
