import API
import Domain
import Foundation
import Operations
import Synchronization

/// The ports that the listeners took.
final class Ports: Sendable {
    enum Listener: Hashable { case publicListener, client, ops, stun }

    private let taken = Mutex<[Listener: Int]>([:])
    private let count: Int

    /// - Parameter count: how many listeners there are.
    init(of count: Int) { self.count = count }

    /// Notes a port; `true` once all listeners have one.
    func set(_ listener: Listener, _ port: Int) -> Bool {
        taken.withLock { taken in
            taken[listener] = port
            return taken.count == count
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

/// The part of the server that helps devices reach each other.
extension Server {
    /// Where STUN is answered, if it is.
    func stunListener(onRunning: @escaping @Sendable (Int) -> Void) -> [Listening.Listener] {
        settings.stunAddress.map { address in
            [
                .init(
                    name: "STUN", address: address,
                    service: STUNListener(at: address.listener, onRunning: onRunning))
            ]
        } ?? []
    }

    /// The secret of the TURN servers; `nil` if the policy names no server.
    ///
    /// - Throws: ``CommandFailure`` if it cannot be read, or could be guessed.
    func turnSecret() throws(CommandFailure) -> Secret<String>? {
        let calls = policy[\.calls]
        guard !calls.turnURLs.isEmpty else { return nil }
        let file = KeyFile(path: "\(settings.keys)/\(calls.turnSecretFile)", isPrivate: true)
        let text = try file.read().trimmingCharacters(in: .whitespacesAndNewlines)
        guard (16...256).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw CommandFailure("\(file.path) does not hold 16 to 256 printable characters without space.")
        }
        return Secret(text)
    }
}
