/// Where a device stands towards the service: the outer one of the protocol's two state machines.
package enum ConnectionState: String, Sendable, CaseIterable {
    /// The device has no certificate that counts.
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
        /// The certificate was revoked or superseded, or it ran out.
        case revoke
    }

    /// The state after an event; `nil` where the protocol does not allow it.
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

/// What a connection shows of itself, and what sessions it may carry.
package enum AttachmentRule: String, Sendable, CaseIterable {
    /// A token shown on a new connection under the same certificate attaches its session.
    case implicit
    /// A session is resumed first, on each connection.
    case explicit
}
