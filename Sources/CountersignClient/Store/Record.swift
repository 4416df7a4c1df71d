import Foundation

/// What the secret store keeps, as one JSON document. Every change of it is one write, so that a crash leaves the state
/// before or after.
struct Record: Codable, Sendable, Equatable {
    /// A certification request that was made and perhaps sent. The same bytes are sent again, because the service gives
    /// the same certificate for them.
    var pending: Pending?
    var device: CertifiedKey?
    var session: SessionSecret?

    struct Pending: Codable, Sendable, Equatable {
        var keyName: String
        /// The key that goes with it, of a client with ``Presence``.
        var presenceKeyName: String?
        var csr: String
        var madeAt: Date
    }

    /// A certificate and the name of its key.
    struct CertifiedKey: Codable, Sendable, Equatable {
        var keyName: String
        /// The key that the device registered with its first certificate, if it did.
        var presenceKeyName: String?
        var certificate: String
        var device: Device
    }

    /// A session and its token.
    struct SessionSecret: Codable, Sendable, Equatable {
        var session: Session
        var token: String
        /// Whether its token only names it for a renewal.
        var isChallenged = false
    }

    /// The names of the keys that are needed.
    var keyNames: Set<String> {
        let names = [pending?.keyName, pending?.presenceKeyName, device?.keyName, device?.presenceKeyName]
        return Set(names.compactMap(\.self))
    }
}
