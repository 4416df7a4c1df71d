/// The connection state of a device: the outer one of the protocol's two state machines.
package enum ConnectionState: String, Sendable, CaseIterable {
    /// The device has no valid certificate.
    case uncertified
    /// The device has a certificate and no connection.
    case disconnected
    /// The device holds a mutual-TLS connection.
    case connected

    /// What may happen to a connection.
    package enum Event: String, Sendable, CaseIterable {
        /// The internal CA issued a certificate.
        case certify
        /// A mutual-TLS handshake succeeded.
        case connect
        /// The connection ended, by either side.
        case disconnect
        /// The certificate was revoked, superseded, or expired.
        case revoke
    }

    /// The state after an event; `nil` if the protocol does not allow the event.
    package func after(_ event: Event) -> ConnectionState? {
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
    /// A token shown on a new connection under the same certificate attaches its session.
    case implicit
    /// A session must be resumed first, on each connection.
    case explicit
}
