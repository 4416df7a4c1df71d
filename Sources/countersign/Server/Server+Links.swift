import Synchronization

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

extension Settings {
    /// The public listener as seen from outside.
    func publicURL(port: Int) -> String { baseURL ?? "https://\(publicAddress.host(port: port))" }

    /// The client listener as seen from outside.
    func clientURL(port: Int) -> String { clientURL ?? "https://\(clientAddress.host(port: port))" }
}
