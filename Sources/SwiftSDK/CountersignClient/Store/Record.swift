import Foundation

/// The content of the secret store, as one JSON document. Every change is one write, so a crash leaves the state before
/// or after it.
struct Record: Codable, Sendable, Equatable {
    /// A certification request that may have been sent. Its bytes are sent again, because the service repeats the
    /// certificate for them.
    var pending: Pending?
    var device: CertifiedKey?
    var session: SessionSecret?

    struct Pending: Codable, Sendable, Equatable {
        var keyName: String
        /// The presence key of the request, for a client with ``Presence``.
        var presenceKeyName: String?
        var csr: String
        /// The attestation of the key, for a service that requires one.
        var attestation: Attestation?
        var madeAt: Date
    }

    /// A certificate and the name of its key.
    struct CertifiedKey: Codable, Sendable, Equatable {
        var keyName: String
        /// The presence key that was registered with the first certificate, if any.
        var presenceKeyName: String?
        var certificate: String
        var device: Device
    }

    /// A session and its token.
    struct SessionSecret: Codable, Sendable, Equatable {
        var session: Session
        var token: String
        /// Whether the token is only valid for a renewal.
        var isChallenged = false
    }

    /// The names of the keys in use.
    var keyNames: Set<String> {
        let names = [pending?.keyName, pending?.presenceKeyName, device?.keyName, device?.presenceKeyName]
        return Set(names.compactMap(\.self))
    }
}
