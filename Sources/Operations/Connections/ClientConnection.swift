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
    private let device = Mutex(Device())

    private struct Device {
        /// A handshake has shown a certificate; nothing is known of it yet.
        var state = ConnectionState.disconnected
        var certificate: CachedCertificate?
    }

    /// Whether its present request ends it: then its answer is waited for, and nobody else closes it.
    let endsWithItsAnswer = Atomic<Bool>(false)

    /// Names a connection whose handshake has completed.
    package init(id: ConnectionID, thumbprint: Digest256, close: @escaping @Sendable () -> Void) {
        self.id = id
        self.thumbprint = thumbprint
        self.close = close
    }

    /// The certificate as the service knows it, once it was found valid.
    var certificate: CachedCertificate? { device.withLock { $0.certificate } }

    /// The certificate with the state, in one look.
    var known: (CachedCertificate, ConnectionState)? {
        device.withLock { device in device.certificate.map { ($0, device.state) } }
    }

    /// What the protocol's outer state machine says of it.
    package var state: ConnectionState { device.withLock { $0.state } }

    /// The certificate is valid: the device is connected, unless the connection has ended meanwhile.
    func connect(_ certificate: CachedCertificate) {
        device.withLock { device in
            device.certificate = certificate
            // What was refused before, such as a banned device, is valid again.
            if let next = device.state.after(.certify) { device.state = next }
            if let next = device.state.after(.connect) { device.state = next }
        }
    }

    /// The certificate is valid no more.
    func revoke() { move(.revoke) }

    /// The connection has ended, by either side.
    package func disconnect() { move(.disconnect) }

    private func move(_ event: ConnectionState.Event) {
        device.withLock { device in
            if let next = device.state.after(event) { device.state = next }
        }
    }

    /// Whether the certificate behind it is valid at a moment, or was not looked at yet, or not again.
    package func isValid(at now: Date) -> Bool {
        guard let certificate, !certificate.isInDoubt, !endsWithItsAnswer.load(ordering: .relaxed) else { return true }
        return (try? certificate.requireValid(at: now)) != nil
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
