import Synchronization

/// Distributes values to any number of readers. For a slow reader the last sixteen are kept.
final class Readers<Element: Sendable>: Sendable {
    private struct State {
        var next = 0
        var readers: [Int: AsyncStream<Element>.Continuation] = [:]
    }

    private let state = Mutex(State())

    func stream() -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream<Element>.makeStream(bufferingPolicy: .bufferingNewest(16))
        let number = state.withLock { state in
            state.next &+= 1
            state.readers[state.next] = continuation
            return state.next
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.readers.removeValue(forKey: number) }
        }
        return stream
    }

    func send(_ element: Element) {
        for reader in state.withLock({ Array($0.readers.values) }) { reader.yield(element) }
    }
}
