import Foundation

/// The limits of one connection and one request: `Policies/requests.yaml`.
package struct RequestPolicy: Sendable, Equatable {
    /// The largest body, in bytes. A route may declare a larger bound of its own.
    package var maximumBody = 65_536
    /// The largest total size of header fields, in bytes.
    package var maximumHeaders = 16_384
    /// The largest number of header fields in one request.
    package var maximumHeaderCount = 64
    /// The longest time from the TCP connection to the end of the TLS handshake.
    package var handshakeTimeout: TimeInterval = 10
    /// The longest time from the first byte of a request to its last.
    package var requestTimeout: TimeInterval = 20
    /// A connection without requests for this long is closed.
    package var idleTimeout: TimeInterval = 120
    /// Open connections on one listener. If there are more, the one that was idle for longest is closed.
    package var maximumConnections = 16_384
    /// Of these, from one sender.
    package var connectionsPerSender = NetworkLimits(perAddress: 1024, per56: 2048, per48: 4096)
    /// Of these, with one client certificate.
    package var connectionsPerCertificate = 16
    /// Concurrent requests on one HTTP/2 connection to the public listener.
    package var publicStreams = 40
    /// Concurrent requests on one HTTP/2 connection to the client listener.
    package var clientStreams = 100
    /// The longest time from the first byte of a response to its last, in seconds. Each 4 KiB that the peer has read
    /// add a second.
    package var answerTimeout: TimeInterval = 20
    /// Bytes of responses that the peer has not read. If there are more, no request of its connection is processed.
    package var maximumUnsent = 262_144
    /// Bytes of large messages and responses of one certificate that are in progress or unread at the same time.
    package var unsentPerCertificate = 4_194_304
    /// Bytes of large messages and responses of one user that are in progress or unread at the same time.
    package var unsentPerUser = 8_388_608
    /// Bytes of large messages and responses of all clients of a node that are in progress or unread at the same time.
    package var unsentTotal = 134_217_728
    /// Calls of each cost that one user, certificate or address may make in a minute on one node.
    package var readsPerMinute = 3000
    package var writesPerMinute = 1200
    package var heavyPerMinute = 1200
    /// The factor by which these limits are higher for all backends of one provider.
    package var providerFactor = 200
    /// Exports of one user's data in an hour. Each decrypts all data of the user.
    package var exportsPerHour = 3
    /// The oldest TLS version on the client listener.
    package var clientTLS = TLSFloor.tls12
    /// How long a shutdown waits for requests in progress.
    package var shutdownTimeout: TimeInterval = 20
    /// Networks whose connections to the public and client listeners begin with a PROXY protocol header (version 1 or
    /// 2).
    package var proxiedNetworks: [AddressNetwork] = []

    init() {}
}

/// The oldest TLS version that a listener accepts.
package enum TLSFloor: String, Sendable, CaseIterable {
    case tls12 = "tls1.2"
    case tls13 = "tls1.3"
}
