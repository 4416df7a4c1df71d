import Domain
import Encoding
import Foundation
import Synchronization

/// One mutual-TLS connection: who is at its other end, and which sessions were attached to it.
///
/// Made when the handshake completes, gone when the connection ends. Attachment alone authorizes nothing.
package final class ClientConnection: Sendable {
    /// The server's own name for the connection.
    package let id: ConnectionID
    /// SHA-256 of the certificate that the peer proved to hold the key of.
    package let thumbprint: Digest256
    /// Ends the connection from the server's side, at once; called from anywhere, any number of times.
    package let close: @Sendable () -> Void

    private let attached = Mutex<[SessionID: UserID]>([:])
    private let judged = Mutex<CachedCertificate?>(nil)

    /// Whether its present request ends it: then its answer is waited for, and nobody else closes it.
    let endsWithItsAnswer = Atomic<Bool>(false)

    /// Names a connection whose handshake has completed.
    package init(id: ConnectionID, thumbprint: Digest256, close: @escaping @Sendable () -> Void) {
        self.id = id
        self.thumbprint = thumbprint
        self.close = close
    }

    /// The certificate as the service knows it, once it was looked up.
    var certificate: CachedCertificate? {
        get { judged.withLock { $0 } }
        set { judged.withLock { $0 = newValue } }
    }

    func attach(_ session: Session) {
        attached.withLock { $0[session.id] = session.userID }
    }

    /// Whether a session was created or resumed here.
    func isAttached(_ session: SessionID) -> Bool {
        attached.withLock { $0[session] != nil }
    }

    /// Takes the sessions of some users off the connection, and ends it where nobody else's is left.
    package func detach(_ users: Set<UserID>) {
        let isLeft = attached.withLock { attached in
            let before = attached.count
            attached = attached.filter { !users.contains($0.value) }
            return attached.isEmpty && before > 0
        }
        if isLeft { close() }
    }
}
