/// The connection state of a device: the outer one of the protocol's two state machines.
package enum ConnectionState: String, Sendable, CaseIterable {
    /// The device has no valid certificate.
    case uncertified
    /// The device has a certificate and no connection.
    case disconnected
    /// The device has a mutual-TLS connection.
    case connected
}

package extension ConnectionState {
    /// What can happen to a connection.
    enum Event: String, Sendable, CaseIterable {
        /// The internal CA issued a certificate.
        case certify
        /// A mutual-TLS handshake with the certificate succeeded.
        case connect
        /// Either side closed the connection.
        case disconnect
        /// The certificate was revoked, superseded, or expired.
        case revoke
    }

    /// The state after an event; `nil` if the protocol does not allow the event.
    func after(_ event: Event) -> ConnectionState? {
        switch (self, event) {
        case (.uncertified, .certify): .disconnected
        case (.disconnected, .connect): .connected
        case (.connected, .disconnect): .disconnected
        case (_, .revoke): .uncertified
        default: nil
        }
    }
}

/// How sessions are attached to a connection.
package enum AttachmentRule: String, Sendable, CaseIterable {
    /// A session's token on a new connection with the same certificate attaches the session.
    case implicit
    /// A session must be resumed on each new connection before it can be used.
    case explicit
}
