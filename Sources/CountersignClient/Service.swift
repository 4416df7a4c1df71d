import Crypto
import Foundation
import NIOSSL

/// Where a Countersign service is, and by what a device knows it.
public struct Service: Sendable, Hashable {
    /// The public listener as seen from outside, such as `https://auth.example.com`.
    public var publicURL: URL
    /// The client listener as seen from outside, such as `https://device.auth.example.com`.
    public var clientURL: URL
    /// The keys of the server that the device accepts: the present one and the next. If there is none, ``roots``
    /// decides alone.
    public var pins: [SPKIPin]
    /// The authorities that may certify the server. A pin is checked besides them, not in place of them.
    public var roots: Roots
    /// The id of the app at its provider. It may be left out if the provider has one app.
    public var appID: UUID?
    /// How the calls of streams go. All other calls go over HTTP.
    public var messaging: Messaging

    /// What carries the calls of streams of messages.
    public enum Messaging: Sendable, Hashable {
        /// Over HTTP: a device that waits for changes has a request open.
        case http
        /// Over one connection of Herald, on which the service says when there is something new. Who is writing is
        /// known over HTTP alone. Where a server does not speak Herald, calls go over HTTP.
        case herald
    }

    /// Which authorities a device trusts.
    public enum Roots: Sendable, Hashable {
        /// Those of the operating system.
        case system
        /// Those in this PEM text, such as the answer of `GET /certificates/authority`.
        case pem(String)
    }

    /// Names a service.
    public init(
        publicURL: URL, clientURL: URL, pins: [SPKIPin], roots: Roots = .system, appID: UUID? = nil,
        messaging: Messaging = .http
    ) {
        self.publicURL = publicURL
        self.clientURL = clientURL
        self.pins = pins
        self.roots = roots
        self.appID = appID
        self.messaging = messaging
    }
}

/// The SHA-256 of a server's SubjectPublicKeyInfo (RFC 7469 §2.4).
public struct SPKIPin: Sendable, Hashable, CustomStringConvertible {
    /// 32 bytes.
    public let digest: Data

    /// Reads a pin in base64 or base64url; discovery lists them in `server_key_pins_sha256`. `nil` if it is no SHA-256.
    public init?(_ text: String) {
        guard let bytes = Data(base64URL: text), bytes.count == 32 else { return nil }
        digest = bytes
    }

    /// The pin of the key in a certificate.
    init(of certificate: NIOSSLCertificate) throws {
        digest = Data(SHA256.hash(data: try certificate.extractPublicKey().toSPKIBytes()))
    }

    /// The pin in base64url, as in discovery.
    public var description: String { digest.base64URL }
}
