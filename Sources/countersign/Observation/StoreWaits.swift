import Database
import Metrics

/// How long callers waited for the store.
struct StoreWaits: Sendable {
    private let timers: [ObservedDatabase.Kind: Timer]

    init() {
        timers = Dictionary(
            uniqueKeysWithValues: ObservedDatabase.Kind.allCases.map { kind in
                (kind, Timer(label: "store_wait_seconds", dimensions: [("kind", kind.rawValue)]))
            })
    }

    func record(_ kind: ObservedDatabase.Kind, since began: ContinuousClock.Instant) {
        let (seconds, attoseconds) = (ContinuousClock.now - began).components
        timers[kind]?.recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
