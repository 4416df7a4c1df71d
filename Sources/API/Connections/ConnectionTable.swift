import Domain
import Foundation
import NIOCore
import Operations
import Synchronization

package final class ConnectionTable: Sendable {
    private let open = Mutex<[ConnectionID: ClientConnection]>([:])

    package init() {}

    package var count: Int { open.withLock { $0.count } }

    /// Closes connections whose certificate is not valid at a time.
    package func closeInvalid(at now: Date) {
        let all = open.withLock { Array($0.values) }
        for connection in all where !connection.isValid(at: now) { connection.close() }
    }

    /// Detaches users' sessions from all connections, and closes connections without another user.
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

/// The connection of the current task. It is set once for each connection; HTTP/2 streams inherit it.
enum CurrentConnection {
    @TaskLocal static var value: ClientConnection?
    @TaskLocal static var peerAddress: SocketAddress?
    @TaskLocal static var requestIDs: RequestIDs?
}
