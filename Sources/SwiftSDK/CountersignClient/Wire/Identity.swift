import Foundation
import NIOCore
import NIOSSL

/// The device's identity in handshakes: its certificate, and a key that signs without leaving its store.
struct Identity: Sendable {
    let serial: String
    let tls: TLSConfiguration

    /// - Parameter base: the configuration without a certificate.
    /// - Throws: ``Refusal/storage(_:)`` if the certificate cannot be read.
    init(_ device: Record.CertifiedKey, keys: any DeviceKeys, base: TLSConfiguration) throws(Refusal) {
        guard let chain = try? NIOSSLCertificate.fromPEMBytes(Array(device.certificate.utf8)), !chain.isEmpty else {
            throw .storage(.damaged)
        }
        var tls = base
        tls.certificateChain = chain.map { .certificate($0) }
        tls.privateKey = .privateKey(
            NIOSSLPrivateKey(customPrivateKey: HandshakeKey(keys: keys, name: device.keyName)))
        self.tls = tls
        serial = device.device.serial
    }
}

/// A key that BoringSSL uses for signatures, but never sees.
private struct HandshakeKey: NIOSSLCustomPrivateKey, Hashable {
    let keys: any DeviceKeys
    let name: String

    var signatureAlgorithms: [SignatureAlgorithm] { [.ecdsaSecp256R1Sha256] }

    func sign(
        channel: any Channel, algorithm: SignatureAlgorithm, data: ByteBuffer
    ) -> EventLoopFuture<ByteBuffer> {
        let message = Data(data.readableBytesView)
        return channel.eventLoop.makeFutureWithTask {
            ByteBuffer(bytes: try await keys.sign(message, with: name))
        }
    }

    /// Only RSA key exchange decrypts, which TLS 1.3 does not support.
    func decrypt(channel: any Channel, data: ByteBuffer) -> EventLoopFuture<ByteBuffer> {
        channel.eventLoop.makeFailedFuture(StorageFailure.notPermitted)
    }

    static func == (left: HandshakeKey, right: HandshakeKey) -> Bool { left.name == right.name }
    func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
