import API
import Domain
import Foundation
import Operations
import Synchronization

/// The actual ports of the listeners.
final class Ports: Sendable {
    enum Listener: Hashable { case publicListener, client, ops, stun, console }

    private let taken = Mutex<[Listener: Int]>([:])
    private let count: Int

    /// - Parameter count: the number of listeners.
    init(of count: Int) { self.count = count }

    /// Stores a port. Returns `true` when all listeners have one.
    func set(_ listener: Listener, _ port: Int) -> Bool {
        taken.withLock { taken in
            taken[listener] = port
            return taken.count == count
        }
    }

    func port(_ listener: Listener) -> Int { taken.withLock { $0[listener] ?? 0 } }
}

extension Settings {
    /// The external URL of the public listener.
    func publicURL(port: Int) -> String { baseURL ?? "https://\(publicAddress.host(port: port))" }

    /// The external URL of the client listener.
    func clientURL(port: Int) -> String { clientURL ?? "https://\(clientAddress.host(port: port))" }
}

/// STUN and TURN, which help devices reach each other.
extension Server {
    /// The STUN listener, if it is enabled.
    func stunListener(onRunning: @escaping @Sendable (Int) -> Void) -> [Listening.Listener] {
        settings.stunAddress.map { address in
            [
                .init(
                    name: "STUN", address: address,
                    service: STUNListener(at: address.listener, onRunning: onRunning))
            ]
        } ?? []
    }

    /// The secret shared with the TURN servers; `nil` if the policy names no server.
    ///
    /// - Throws: ``CommandFailure`` if the secret cannot be read or could be guessed.
    func turnSecret() throws(CommandFailure) -> Secret<String>? {
        let calls = policy[\.calls]
        guard !calls.turnURLs.isEmpty else { return nil }
        let file = KeyFile(path: "\(settings.keys)/\(calls.turnSecretFile)", isPrivate: true)
        let text = try file.read().trimmingCharacters(in: .whitespacesAndNewlines)
        guard (16...256).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw CommandFailure("\(file.path) must contain 16 to 256 printable characters without space.")
        }
        return Secret(text)
    }
}
