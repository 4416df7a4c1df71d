import Synchronization

/// What a device is to the service at this moment.
public enum State: Sendable, Hashable {
    /// It has no valid certificate: call ``Countersign/certify(_:)``.
    case uncertified
    /// It is certified and has no connection. The next call makes one.
    case disconnected
    /// It has a connection, and perhaps a session.
    case connected(Session)

    /// What becomes of the user's session.
    public enum Session: Sendable, Hashable {
        /// There is none: call ``Countersign/signIn(_:)``.
        case unauthenticated
        /// Calls are made in it.
        case authenticated
        /// The user must prove the identity again before the next call.
        case challenged
    }
}

/// Holds the present state for any number of readers.
final class StateFeed: Sendable {
    struct Facts: Sendable {
        var isCertified = false
        var connections = 0
        var session = State.Session.unauthenticated

        var state: State {
            guard isCertified else { return .uncertified }
            return connections > 0 ? .connected(session) : .disconnected
        }
    }

    private struct Readers {
        var facts = Facts()
        var last = State.uncertified
        var next = 0
        var streams: [Int: AsyncStream<State>.Continuation] = [:]
    }

    private let readers = Mutex(Readers())

    /// The present state and every later one. Of a reader that is slow the last eight are kept.
    func stream() -> AsyncStream<State> {
        let (stream, continuation) = AsyncStream<State>.makeStream(bufferingPolicy: .bufferingNewest(8))
        let number = readers.withLock { readers in
            readers.next &+= 1
            readers.streams[readers.next] = continuation
            continuation.yield(readers.last)
            return readers.next
        }
        continuation.onTermination = { [weak self] _ in self?.remove(number) }
        return stream
    }

    private func remove(_ number: Int) {
        _ = readers.withLock { $0.streams.removeValue(forKey: number) }
    }

    /// Changes what is known; readers get a state that differs from the one before.
    func update(_ change: (inout Facts) -> Void) {
        readers.withLock { readers in
            change(&readers.facts)
            guard readers.facts.state != readers.last else { return }
            readers.last = readers.facts.state
            for stream in readers.streams.values { stream.yield(readers.last) }
        }
    }

    deinit {
        for stream in readers.withLock({ $0.streams.values }) { stream.finish() }
    }
}
