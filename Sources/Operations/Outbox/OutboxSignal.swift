/// Wakes the outbox's loop when there may be something to send.
package final class OutboxSignal: Sendable {
    let rings: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    /// A signal for one loop; signals while the loop works are merged into one.
    package init() {
        (rings, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Signals that there may be something to send.
    package func ring() {
        continuation.yield()
    }
}
