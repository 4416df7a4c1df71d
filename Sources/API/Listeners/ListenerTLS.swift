import NIOCore
import NIOSSL
import Synchronization

/// The service's own certificate and, on the client listener and the console, the authorities of clients' certificates.
package final class ListenerTLS: Sendable {
    private let clients: Clients?
    private let context: Mutex<NIOSSLContext>

    /// Reads the server's chain and key. Each listener has its own context, and so its own ticket keys.
    ///
    /// - Parameter clients: `nil` if clients need no certificate.
    package init(chainPEM: [UInt8], keyPEM: [UInt8], clients: Clients?) throws {
        self.clients = clients
        context = Mutex(try Self.context(chainPEM: chainPEM, keyPEM: keyPEM, clients: clients))
    }

    var sslContext: NIOSSLContext { context.withLock { $0 } }

    /// A handler for the next connection.
    ///
    /// - Parameter verifyChain: verifies the client's chain, if the TLS library does not.
    func makeHandler(verifyChain: (@Sendable ([[UInt8]]) -> Bool)?) -> NIOSSLServerHandler {
        guard let verifyChain, clients?.areRoots == false else { return NIOSSLServerHandler(context: sslContext) }
        return NIOSSLServerHandler(context: sslContext) { chain, promise in
            let bytes = chain.compactMap { try? $0.toDERBytes() }
            promise.succeed(bytes.count == chain.count && verifyChain(bytes) ? .certificateVerified : .failed)
        }
    }
}

package extension ListenerTLS {
    /// The authorities whose certificates a listener accepts from clients.
    struct Clients: Sendable {
        let authorities: [[UInt8]]
        let areRoots: Bool
        let isTLS13Only: Bool
        let speaksHerald: Bool

        /// - Parameters:
        ///   - authorities: certificates in DER.
        ///   - areRoots: whether each of them signed itself. Then the TLS library verifies chains, and its alert can
        ///     say what is wrong. It does not trust an authority that is not a root (Upstream.md).
        ///   - isTLS13Only: whether TLS 1.2 is refused.
        ///   - speaksHerald: whether Herald is offered beside HTTP.
        package init(authorities: [[UInt8]], areRoots: Bool, isTLS13Only: Bool, speaksHerald: Bool = true) {
            self.speaksHerald = speaksHerald
            self.authorities = authorities
            self.areRoots = areRoots
            self.isTLS13Only = isTLS13Only
        }
    }

    /// Replaces the server's chain and key for new connections.
    func replace(chainPEM: [UInt8], keyPEM: [UInt8]) throws {
        let new = try Self.context(chainPEM: chainPEM, keyPEM: keyPEM, clients: clients)
        context.withLock { $0 = new }
    }

    private static func context(
        chainPEM: [UInt8], keyPEM: [UInt8], clients: Clients?
    ) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(chainPEM).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: keyPEM, format: .pem)))
        configuration.minimumTLSVersion = clients?.isTLS13Only == true ? .tlsv13 : .tlsv12
        configuration.cipherSuites = cipherSuites.joined(separator: ":")
        configuration.verifySignatureAlgorithms = signatureAlgorithms
        // How long a closing connection waits for the client to close: an idle one must free its place soon.
        configuration.shutdownTimeout = .seconds(1)
        configuration.applicationProtocols = ["h2", "http/1.1"]
        if let clients {
            if clients.speaksHerald { configuration.applicationProtocols.append(HeraldConnection.name) }
            configuration.certificateVerification = .noHostnameVerification
            configuration.trustRoots = .certificates(
                try clients.authorities.map { try NIOSSLCertificate(bytes: $0, format: .der) })
            configuration.sendCANameList = true
        }
        return try NIOSSLContext(configuration: configuration)
    }

    /// The suites of TLS 1.2 with ephemeral keys and authenticated encryption (RFC 9325 §4.2). TLS 1.3 has no others.
    private static let cipherSuites = [
        "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384",
        "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305",
    ]

    /// The algorithms of a client's proof of its key: no SHA-1 (RFC 9155). The key types are those of certification.
    private static let signatureAlgorithms: [SignatureAlgorithm] = [
        .ecdsaSecp256R1Sha256, .rsaPssRsaeSha256, .rsaPkcs1Sha256, .ecdsaSecp384R1Sha384, .rsaPssRsaeSha384,
        .rsaPkcs1Sha384, .rsaPssRsaeSha512, .rsaPkcs1Sha512,
    ]
}
