import Domain
import Encoding
import Foundation
import Synchronization

/// One mutual-TLS connection: the peer's certificate, and the sessions that were attached to the connection.
///
/// It exists from the end of the handshake to the end of the connection. Attachment alone authorizes nothing.
package final class ClientConnection: Sendable {
    /// The server's id of the connection.
    package let id: ConnectionID
    /// SHA-256 of the certificate whose key the peer proved to possess.
    package let thumbprint: Digest256
    /// The sender's network: the /24 or /48 around its address.
    let network: String
    /// Closes the connection at once. It may be called on any thread and repeatedly.
    package let close: @Sendable () -> Void

    private let attached = Mutex<[SessionID: UserID]>([:])
    private let device = Mutex(Device())

    private struct Device {
        /// A handshake has shown a certificate, which was not looked up yet.
        var state = ConnectionState.disconnected
        var certificate: CachedCertificate?
    }

    /// Whether its current request ends the connection. Then the connection is closed only after the response.
    let endsWithItsAnswer = Atomic<Bool>(false)

    /// For a connection whose handshake is complete.
    ///
    /// - Parameter address: the limits' key of the sender's address.
    package init(
        id: ConnectionID, thumbprint: Digest256, from address: String = "local", close: @escaping @Sendable () -> Void
    ) {
        self.id = id
        self.thumbprint = thumbprint
        network = SendTarget.RequesterNetwork.key(ofAddress: address)
        self.close = close
    }

    /// The cached certificate, after it was found valid.
    var certificate: CachedCertificate? { device.withLock { $0.certificate } }

    /// The certificate and the state, read together.
    var known: (CachedCertificate, ConnectionState)? {
        device.withLock { device in device.certificate.map { ($0, device.state) } }
    }

    /// Records that the certificate is valid: the device is connected, unless the connection has ended meanwhile.
    func connect(_ certificate: CachedCertificate) {
        device.withLock { device in
            device.certificate = certificate
            // A refused connection, such as that of a banned device, is valid again.
            if let next = device.state.after(.certify) { device.state = next }
            if let next = device.state.after(.connect) { device.state = next }
        }
    }

    /// Records that the certificate is no longer valid.
    func revoke() { move(.revoke) }

    func attach(_ session: Session) {
        attached.withLock { $0[session.id] = session.userID }
    }

    /// Whether a session was created or resumed on this connection.
    func isAttached(_ session: SessionID) -> Bool {
        attached.withLock { $0[session] != nil }
    }
}

package extension ClientConnection {
    /// The state in the protocol's outer state machine.
    var state: ConnectionState { device.withLock { $0.state } }

    /// The device of the certificate; `nil` until it was looked up.
    var deviceID: DeviceID? { certificate?.certificate.deviceID }

    /// What the maker of the device attested about the key of the certificate.
    var attestation: DeviceAttestation.Level { certificate?.certificate.attestation ?? .unattested }

    /// Records that either side closed the connection.
    func disconnect() { move(.disconnect) }

    private func move(_ event: ConnectionState.Event) {
        device.withLock { device in
            if let next = device.state.after(event) { device.state = next }
        }
    }

    /// Whether its certificate is valid at `now`, or was not verified yet.
    func isValid(at now: Date) -> Bool {
        guard let certificate, !certificate.isInDoubt, !endsWithItsAnswer.load(ordering: .relaxed) else { return true }
        return (try? certificate.requireValid(at: now)) != nil
    }

    /// Detaches the sessions of some users, and closes the connection if no other user's session is left.
    func detach(_ users: Set<UserID>) {
        let isLeft = attached.withLock { attached in
            let before = attached.count
            attached = attached.filter { !users.contains($0.value) }
            return attached.isEmpty && before > 0
        }
        if isLeft { close() }
    }
}
