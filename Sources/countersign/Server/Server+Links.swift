import Operations
import Synchronization

/// Hands the judge to those who were made before it.
final class AuthenticationBox: Sendable {
    private let value = Mutex<AuthenticateConnection?>(nil)

    var judge: AuthenticateConnection? {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}

/// The ports that the listeners took.
final class Ports: Sendable {
    enum Listener: Hashable { case publicListener, client, ops }

    private let taken = Mutex<[Listener: Int]>([:])

    /// Notes a port; `true` once all listeners have one.
    func set(_ listener: Listener, _ port: Int) -> Bool {
        taken.withLock { taken in
            taken[listener] = port
            return taken.count == 3
        }
    }

    func port(_ listener: Listener) -> Int { taken.withLock { $0[listener] ?? 0 } }
}
