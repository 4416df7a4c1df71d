import Synchronization

/// Wakes a loop when there may be something to do.
package final class LoopSignal: Sendable {
    let rings: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    /// A signal for one loop; signals while the loop works are merged into one.
    package init() {
        (rings, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Signals that there may be something to do.
    package func ring() {
        continuation.yield()
    }
}

/// Reports the first of consecutive failures, and again every ten seconds while they last.
final class FailureReports: Sendable {
    private let toldAt = Mutex<ContinuousClock.Instant?>(nil)
    private let onFailure: @Sendable (any Error) -> Void

    init(_ onFailure: @escaping @Sendable (any Error) -> Void) { self.onFailure = onFailure }

    func tell(_ error: any Error) {
        let isDue = toldAt.withLock { toldAt in
            guard toldAt.map({ ContinuousClock.now - $0 >= .seconds(10) }) ?? true else { return false }
            toldAt = .now
            return true
        }
        if isDue { onFailure(error) }
    }

    /// Records a success, which ends the failures.
    func end() { toldAt.withLock { $0 = nil } }
}
