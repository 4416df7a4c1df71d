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
