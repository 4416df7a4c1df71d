import Foundation

/// What one connection and one request may cost: `Policies/requests.yaml`.
package struct RequestPolicy: Sendable, Equatable {
    /// The largest body, bytes.
    package var maximumBody = 65_536
    /// The largest sum of header fields, bytes.
    package var maximumHeaders = 16_384
    /// Header fields in one request.
    package var maximumHeaderCount = 64
    /// From the TCP connection to the end of the TLS handshake.
    package var handshakeTimeout: TimeInterval = 10
    /// From the first byte of a request to its last.
    package var requestTimeout: TimeInterval = 20
    /// A connection without requests for this long is closed.
    package var idleTimeout: TimeInterval = 120
    /// Open connections on one listener; beyond them the one that is idle for longest gives way.
    package var maximumConnections = 16_384
    /// Of these, from one address (/32 of IPv4, /64 of IPv6).
    package var connectionsPerAddress = 1024
    /// Of these, with one client certificate.
    package var connectionsPerCertificate = 16
    /// Requests at a time on one HTTP/2 connection to the public listener.
    package var publicStreams = 50
    /// The same on the client listener.
    package var clientStreams = 100
    /// From the first byte of an answer to its last, and a second more for each 4 KiB that were taken.
    package var answerTimeout: TimeInterval = 20
    /// Bytes of answers that a connection has not taken, beyond which none of its requests is worked on.
    package var maximumUnsent = 262_144
    /// The oldest TLS on the client listener.
    package var clientTLS = TLSFloor.tls12
    /// How long a stop waits for what is in flight.
    package var shutdownTimeout: TimeInterval = 20
    /// Networks whose connections to the public and the client listener begin with a PROXY protocol v2 header.
    package var proxiedNetworks: [AddressNetwork] = []

    package init() {}
}

/// The oldest version of TLS that a listener speaks.
package enum TLSFloor: String, Sendable, CaseIterable {
    case tls12 = "tls1.2"
    case tls13 = "tls1.3"
}
