import Crypto
import Foundation
import NIOSSL

/// The addresses of a Countersign service, and the keys that identify it.
public struct Service: Sendable, Hashable {
    /// The external URL of the public listener, such as `https://auth.example.com`.
    public var publicURL: URL
    /// The external URL of the client listener, such as `https://device.auth.example.com`.
    public var clientURL: URL
    /// The accepted keys of the server: the current one and the next. If empty, only ``roots`` are checked.
    public var pins: [SPKIPin]
    /// The authorities that may certify the server. They are checked in addition to pins.
    public var roots: Roots
    /// The id of the app at its provider. It is optional if the provider has one app.
    public var appID: UUID?
    /// The protocol for calls of streams. All other calls use HTTP.
    public var messaging: Messaging

    /// The protocol for calls of streams of messages.
    public enum Messaging: Sendable, Hashable {
        /// HTTP, with a pending request while a device waits for changes.
        case http
        /// One Herald connection, over which the service announces changes. Typing notices are only available over
        /// HTTP. If a server does not support Herald, HTTP is used.
        case herald
    }

    /// The authorities that a device trusts.
    public enum Roots: Sendable, Hashable {
        /// Those of the operating system.
        case system
        /// Those in this PEM text, such as the response of `GET /certificates/authority`.
        case pem(String)
    }

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
    /// A digest of 32 bytes.
    public let digest: Data

    /// Parses a pin in base64 or base64url. Discovery lists pins in `server_key_pins_sha256`. `nil` if it is not a
    /// SHA-256 digest.
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
