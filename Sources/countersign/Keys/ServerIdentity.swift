import Authority
import Domain
import Encoding
import Foundation
import SwiftASN1
import Synchronization
import X509

/// The server's certificate and keys, as read from the keys' directory.
struct ServerIdentity: Sendable {
    /// The server's certificate, and those that lead to its root.
    let chainPEM: String
    let keyPEM: Secret<String>
    /// SHA-256 of the certificate in hexadecimal, as `openssl x509 -fingerprint -sha256` shows it without colons.
    let fingerprint: String
    let notAfter: Date
    /// The hosts that it is valid for (RFC 5280 §4.2.1.6).
    let names: [GeneralName]
    /// SHA-256 of the SubjectPublicKeyInfo of `server.key` (RFC 7469 §2.4).
    let pin: Digest256
    /// SHA-256 of the SubjectPublicKeyInfo of `server-next.key`.
    let nextPin: Digest256

    /// The names and addresses that it is valid for, as an operator writes them.
    var hosts: [String] {
        names.compactMap { name in
            switch name {
            case .dnsName(let name): name
            case .ipAddress(let octets): IPAddress(bytes: octets.bytes)?.description
            default: nil
            }
        }
    }

    /// Whether the certificate is valid for a host; a wildcard matches one whole label at the left (RFC 9525 §6.3).
    func covers(_ host: String) -> Bool {
        let host = host.lowercased()
        let address = IPAddress(host)
        return names.contains { name in
            switch name {
            case .dnsName(let name) where address == nil:
                guard name.hasPrefix("*."), let dot = host.firstIndex(of: ".") else { return name.lowercased() == host }
                return host[dot...] == name.lowercased().dropFirst()
            case .ipAddress(let octets): return address.map { octets.bytes.elementsEqual($0.bytes) } ?? false
            default: return false
            }
        }
    }
}

/// The server's identity in use; a reload by the operator replaces it.
final class CurrentServer: Sendable {
    private let identity: Mutex<ServerIdentity>

    init(_ identity: ServerIdentity) {
        self.identity = Mutex(identity)
    }

    /// The identity for new connections.
    var present: ServerIdentity {
        get { identity.withLock { $0 } }
        set { identity.withLock { $0 = newValue } }
    }
}

extension KeyFiles {
    /// Loads the server's certificate and keys, and refuses unusable ones.
    ///
    /// - Parameter isReplacing: whether the certificate may belong to another key, because it is about to be replaced.
    /// - Throws: ``CommandFailure`` that names the file and the command that fixes it.
    static func server(
        in directory: String, now: Date, isReplacing: Bool = false
    ) throws(CommandFailure) -> ServerIdentity {
        let pem = try file(.serverCertificate, in: directory).read()
        let keyPEM = try file(.serverKey, in: directory).read()
        let key = try signingKey(keyPEM, .serverKey, directory)
        let certificate = try serverCertificate(pem, keyPEM, in: directory, now: now, isReplacing: isReplacing)
        let nextKey = try signingKey(try file(.nextServerKey, in: directory).read(), .nextServerKey, directory)
        var serializer = DER.Serializer()
        do {
            try serializer.serialize(certificate)
        } catch {
            throw CommandFailure("\(path(.serverCertificate, directory)) cannot be encoded.")
        }
        return ServerIdentity(
            chainPEM: pem, keyPEM: Secret(keyPEM), fingerprint: hexadecimal(Digest256.of(serializer.serializedBytes)),
            notAfter: certificate.notValidAfter,
            names: (try? certificate.extensions.subjectAlternativeNames).map { Array($0) } ?? [],
            pin: Digest256.of(key.subjectPublicKeyInfo),
            nextPin: Digest256.of(nextKey.subjectPublicKeyInfo))
    }

    private static func hexadecimal(_ digest: Digest256) -> String {
        digest.bytes.map { String(0x100 + Int($0), radix: 16, uppercase: true).dropFirst() }.joined()
    }

    private static func serverCertificate(
        _ pem: String, _ keyPEM: String, in directory: String, now: Date, isReplacing: Bool
    ) throws(CommandFailure) -> Certificate {
        let path = path(.serverCertificate, directory)
        let remedy = "\(renewServer(directory)), or replace the file with another certificate for the key"
        // The first certificate of the file is the server's (RFC 8446 §4.4.2).
        guard let matches = try? KeyMatch.matches(certificatePEM: pem, privateKeyPEM: keyPEM),
            let end = pem.range(of: "-----END CERTIFICATE-----"),
            let start = pem.range(of: "-----BEGIN CERTIFICATE-----"),
            start.lowerBound < end.lowerBound,
            let certificate = try? Certificate(pemEncoded: String(pem[start.lowerBound..<end.upperBound]))
        else { throw CommandFailure("\(path) is not a certificate in PEM; \(remedy).") }
        guard matches || isReplacing else {
            throw CommandFailure(
                "\(path) does not belong to \(Self.path(.serverKey, directory)); \(remedy).")
        }
        guard certificate.notValidAfter > now else { throw CommandFailure("\(path) has expired; \(remedy).") }
        return certificate
    }
}
