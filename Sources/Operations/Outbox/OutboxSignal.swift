/// Tells the outbox's loop that there is something to send.
package final class OutboxSignal: Sendable {
    let rings: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    /// A signal for one loop; rings that come while the loop works are one.
    package init() {
        (rings, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// There is something to send, perhaps.
    package func ring() {
        continuation.yield()
    }
}
