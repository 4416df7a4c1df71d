import Synchronization

/// The device's current state at the service.
public enum State: Sendable, Hashable {
    /// It has no valid certificate: call ``Countersign/certify(_:)``.
    case uncertified
    /// It is certified and has no connection. The next call opens one.
    case disconnected
    /// It has a connection, and possibly a session.
    case connected(Session)

    /// The state of the user's session.
    public enum Session: Sendable, Hashable {
        /// There is none: call ``Countersign/signIn(_:)``.
        case unauthenticated
        case authenticated
        /// The user must prove the identity again before the next call.
        case challenged
    }
}

/// Distributes the current state to any number of readers.
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

    /// The current state and every later one. For a slow reader the last eight are kept.
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

    /// Changes the known facts. Readers get the state if it differs from the previous one.
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
