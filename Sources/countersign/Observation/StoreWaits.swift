import Database
import Metrics
import Traces
import Tracing

/// How long callers waited for the store: a histogram, and a span in the trace of the waiting request.
struct StoreWaits: Sendable {
    private let timers: [ObservedDatabase.Kind: Timer]
    private let tracer: SpanTracer?

    init(tracer: SpanTracer?) {
        self.tracer = tracer
        timers = Dictionary(
            uniqueKeysWithValues: ObservedDatabase.Kind.allCases.map { kind in
                (kind, Timer(label: "store_wait_seconds", dimensions: [("kind", kind.rawValue)]))
            })
    }

    func record(_ kind: ObservedDatabase.Kind, since began: ContinuousClock.Instant) {
        let (seconds, attoseconds) = (ContinuousClock.now - began).components
        let elapsed = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        timers[kind]?.recordNanoseconds(elapsed)
        // Background loops wait too, without a trace.
        guard let tracer, let trace = Trace.current else { return }
        tracer.record(
            "store \(kind.rawValue)", in: trace, ofKind: .client, elapsed: UInt64(clamping: elapsed),
            attributes: ["countersign.store": .string(kind.rawValue)])
    }
}
