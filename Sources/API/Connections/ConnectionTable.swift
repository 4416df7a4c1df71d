import Domain
import Foundation
import NIOCore
import Operations
import Synchronization

/// The open mutual-TLS connections of this process.
package final class ConnectionTable: Sendable {
    private let open = Mutex<[ConnectionID: ClientConnection]>([:])

    package init() {}

    package var count: Int { open.withLock { $0.count } }

    /// Closes those whose certificate is not valid at a moment.
    package func closeInvalid(at now: Date) {
        let all = open.withLock { Array($0.values) }
        for connection in all where !connection.isValid(at: now) { connection.close() }
    }

    /// Takes users' sessions off every connection, and closes those that nobody else uses.
    package func detach(_ users: Set<UserID>) {
        let all = open.withLock { Array($0.values) }
        for connection in all { connection.detach(users) }
    }

    func insert(_ connection: ClientConnection) {
        open.withLock { $0[connection.id] = connection }
    }

    func remove(_ connection: ClientConnection) {
        connection.disconnect()
        open.withLock { $0[connection.id] = nil }
    }
}

/// The connection on which the present task works. Set once a connection; HTTP/2 streams inherit it.
enum CurrentConnection {
    @TaskLocal static var value: ClientConnection?
    @TaskLocal static var peerAddress: SocketAddress?
    @TaskLocal static var requestIDs: RequestIDs?
}
