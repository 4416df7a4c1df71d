import Foundation
import Synchronization

/// A transaction that stands still between its statements and its commit, until a test has seen what others do meanwhile.
package final class HeldTransaction: Sendable {
    private let reached: AsyncStream<Void>
    private let arrive: AsyncStream<Void>.Continuation
    private let free = DispatchSemaphore(value: 0)
    private let isOver = Mutex(false)

    package init() { (reached, arrive) = AsyncStream.makeStream() }

    /// Called at the end of its body, which may be begun again. The time limit is against hanging only.
    package func stand() {
        arrive.yield()
        if !isOver.withLock({ $0 }) { _ = free.wait(timeout: .now() + 120) }
    }

    /// Returns when it stands.
    package func stands() async {
        for await _ in reached { return }
    }

    /// Lets it go on.
    package func end() {
        isOver.withLock { $0 = true }
        free.signal()
    }
}
