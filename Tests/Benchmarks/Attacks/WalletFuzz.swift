import Fixtures
import Foundation

/// `make fuzz`: mutated answers of wallets, status lists and their parts against their readers. A broken promise ends it
/// with its bytes, and an input that costs 20 times as much as a valid one with its seed.
struct WalletFuzz {
    let count: Int
    let seed: UInt64

    private static let chunk = 100_000
    /// One input in so many is of another form than CBOR.
    private static let others = 8
    private static let validInputs = 500

    func run() throws {
        var (read, refused) = (0, 0)
        var costs = InputCosts()
        let start = ContinuousClock.now
        let valid = try WalletMutation(seed: seed)
        for reader in WalletMutation.Reader.allCases {
            let specimen = valid.specimen(of: reader)
            for _ in 0..<Self.validInputs {
                try require(costs.measure(reader.rawValue, "specimen") { Self.result(valid, specimen, reader) })
            }
        }
        costs.settle()
        for first in stride(from: 0, to: count, by: Self.chunk) {
            let seed = seed + UInt64(first / Self.chunk)
            // The seed goes out before what it makes is read.
            FileHandle.standardError.write(Data("\r\(first.formatted()) of \(count.formatted()), seed \(seed)   ".utf8))
            var mutation = try WalletMutation(seed: seed)
            for index in 0..<min(Self.chunk, count - first) {
                for reader in Self.readers(index) {
                    let input = mutation.input(for: reader)
                    let result = costs.measure(reader.rawValue, "seed \(seed), input \(index)") {
                        Self.result(mutation, input, reader)
                    }
                    switch try result.get() {
                    case .read: read += 1
                    case .refused: refused += 1
                    }
                }
            }
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

    /// A reader of CBOR for every index, and sometimes one of another form.
    private static func readers(_ index: Int) -> [WalletMutation.Reader] {
        let all = WalletMutation.Reader.allCases.filter { !WalletMutation.Reader.ofCBOR.contains($0) }
        let first = WalletMutation.Reader.ofCBOR[index % WalletMutation.Reader.ofCBOR.count]
        return index % others == 0 ? [first, all[index / others % all.count]] : [first]
    }

    private static func result(
        _ mutation: WalletMutation, _ input: [UInt8], _ reader: WalletMutation.Reader
    ) -> Result<WalletMutation.Outcome, WalletMutation.Broken> {
        Result { () throws(WalletMutation.Broken) in try mutation.read(input, by: reader) }
    }

    private func require(_ result: Result<WalletMutation.Outcome, WalletMutation.Broken>) throws {
        guard try result.get() == .read else { throw BenchmarkError("a specimen is refused") }
    }
}
