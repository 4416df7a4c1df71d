import Foundation

/// Long tests: `make soak` repeats what `make test` does a few times.
package enum Soak {
    /// Whether the tests run for `make soak`.
    package static let isOn = ProcessInfo.processInfo.environment["COUNTERSIGN_SOAK"] == "1"

    /// How often something is repeated in `make test`, and how often in `make soak`.
    package static func count(_ usual: Int, soak: Int) -> Int { isOn ? soak : usual }

    /// Seeds of a test with random input. Each is a case of its own, so that a long test shows its progress.
    package static func seeds(_ usual: Int, soak: Int) -> [UInt64] {
        (1...max(count(usual, soak: soak), 1)).map(UInt64.init)
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers for the same seed, everywhere.
package struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
