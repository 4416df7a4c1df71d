import Fixtures
import Foundation

/// `make fuzz`: mutated frames and calls of Herald against their readers. A broken promise ends it with its bytes.
struct HeraldFuzz {
    let count: Int
    let seed: UInt64

    func run() throws {
        var (read, refused) = (0, 0)
        let start = ContinuousClock.now
        let chunk = 100_000
        for first in stride(from: 0, to: count, by: chunk) {
            let seed = seed + UInt64(first / chunk)
            FileHandle.standardError.write(Data("\r\(first.formatted()) of \(count.formatted()), seed \(seed)   ".utf8))
            var mutation = HeraldMutation(seed: seed)
            for _ in 0..<min(chunk, count - first) {
                switch try mutation.round() {
                case .read: read += 1
                case .refused: refused += 1
                }
            }
        }
        let seconds = (ContinuousClock.now - start).components.seconds
        FileHandle.standardError.write(
            Data("\r\(read.formatted()) read, \(refused.formatted()) refused, no promise broken, \(seconds) s\n".utf8))
    }
}
