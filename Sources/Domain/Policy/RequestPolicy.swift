import Foundation

/// What one connection and one request may cost: `Policies/requests.yaml`.
public struct RequestPolicy: Sendable, Equatable {
    /// The largest body, bytes.
    public var maximumBody = 65_536
    /// The largest sum of header fields, bytes.
    public var maximumHeaders = 16_384
    /// Header fields in one request.
    public var maximumHeaderCount = 64
    /// From the TCP connection to the end of the TLS handshake.
    public var handshakeTimeout: TimeInterval = 10
    /// From the first byte of a request to its last.
    public var requestTimeout: TimeInterval = 20
    /// A connection without requests for this long is closed.
    public var idleTimeout: TimeInterval = 120
    /// Open connections on one listener; beyond them the one that is idle for longest gives way.
    public var maximumConnections = 16_384
    /// Of these, from one address (/32 of IPv4, /64 of IPv6).
    public var connectionsPerAddress = 1024
    /// Of these, with one client certificate.
    public var connectionsPerCertificate = 16
    /// Requests at a time on one HTTP/2 connection to the public listener.
    public var publicStreams = 50
    /// The same on the client listener.
    public var clientStreams = 100
    /// From the first byte of an answer to its last, and a second more for each 4 KiB that were taken.
    public var answerTimeout: TimeInterval = 20
    /// Bytes of answers that a connection has not taken, beyond which none of its requests is worked on.
    public var maximumUnsent = 262_144
    /// The oldest TLS on the client listener.
    public var clientTLS = TLSFloor.tls12
    /// How long a stop waits for what is in flight.
    public var shutdownTimeout: TimeInterval = 20
    /// Networks whose connections to the public and the client listener begin with a PROXY protocol v2 header.
    public var proxiedNetworks: [AddressNetwork] = []

    public init() {}
}

/// The oldest version of TLS that a listener speaks.
public enum TLSFloor: String, Sendable, CaseIterable {
    case tls12 = "tls1.2"
    case tls13 = "tls1.3"
}
