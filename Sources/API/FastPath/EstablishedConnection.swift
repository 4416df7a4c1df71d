import Operations
import Synchronization

/// The connection of a channel once its peer is known. Until then the routes answer.
final class EstablishedConnection: Sendable {
    /// Shared by the fast path and the routes.
    let requestIDs: RequestIDs
    private let connection = Mutex<ClientConnection?>(nil)

    init(requestIDs: RequestIDs) {
        self.requestIDs = requestIDs
    }

    var value: ClientConnection? { connection.withLock { $0 } }

    func establish(_ connection: ClientConnection) {
        self.connection.withLock { $0 = connection }
    }
}
