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
