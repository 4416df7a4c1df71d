import Authority
import Domain
import Foundation
import SwiftASN1
import X509

/// The rotation of the listeners' key: `server-next.key`, whose pin was published, becomes `server.key`.
struct ServerKeyRotation {
    let directory: String
    let now: Date
    let randomBytes: (Int) -> [UInt8]

    func run(_ step: RotationStep) throws(CommandFailure) -> RotationOutcome {
        guard step == .use else {
            throw CommandFailure(
                "The next server key is always published: leave out --\(step.rawValue).", exitCode: .usage)
        }
        let (key, certificate, next) = (
            KeyFiles.file(.serverKey, in: directory), KeyFiles.file(.serverCertificate, in: directory),
            KeyFiles.file(.nextServerKey, in: directory)
        )
        // A run was stopped after it had replaced the key: the certificate may still be for the former one.
        let wasStopped = try key.read().utf8.elementsEqual(try next.read().utf8)
        let identity = try KeyFiles.server(in: directory, now: now, isReplacing: wasStopped)
        try requireOwnCertificate(identity)
        let authority = try KeyFiles.authority(
            try KeyFiles.file(.authorityCertificate, in: directory).read(),
            try KeyFiles.signingKeyOfAuthority(in: directory), in: directory)
        let nextPEM = try next.read()
        let issued: String
        let fresh: String
        do {
            issued =
                try authority.issueServerCertificate(
                    try SigningKey(pem: nextPEM), hosts: identity.hosts, serial: randomBytes(16), now: now,
                    validity: KeyCreation.serverValidity
                ).pem + KeyCreation.intermediates(of: authority)
            fresh = try SigningKey.generate().pem.reveal()
        } catch {
            throw CommandFailure("No certificate can be issued for \(next.path). Check \(certificate.path).")
        }
        // A node that starts between the first two finds a pair that does not match. The same command finishes all three.
        try key.replace(nextPEM)
        try certificate.replace(issued)
        try next.replace(fresh)
        return RotationOutcome(
            changed: [key.path, certificate.path, next.path],
            next: KeyFileRotation.elsewhere(.server, after: .use) + [
                "Send SIGHUP to each node.", "Rotate this key again only when all devices have learned the new pins.",
            ])
    }

    /// Returns if the service's own authority issued the certificate. Another authority must issue the next one too.
    private func requireOwnCertificate(_ identity: ServerIdentity) throws(CommandFailure) {
        guard try KeyFiles.authorities(in: directory).haveIssued(identity.chainPEM) else {
            throw CommandFailure(
                "\(KeyFiles.path(.serverCertificate, directory)) was not issued by the authority in ca.pem: get a "
                    + "certificate for \(KeyFiles.path(.nextServerKey, directory)) from its authority, and follow "
                    + "Keys/README.md.")
        }
    }
}

extension LoadedAuthorities {
    /// Whether the current authority or the former one issued the first certificate of a PEM text.
    fileprivate func haveIssued(_ pem: String) -> Bool {
        current.hasIssued(pem) || former?.hasIssued(pem) == true
    }
}

extension CertificateAuthority {
    /// Whether it is named as the issuer of the first certificate of a PEM text.
    func hasIssued(_ pem: String) -> Bool {
        guard let issued = try? Certificate(pemEncoded: pem.firstCertificate),
            let own = chainPEM.first.flatMap({ try? Certificate(pemEncoded: $0) })
        else { return false }
        return issued.issuer == own.subject
    }
}

extension String {
    /// The first certificate of a PEM text; empty if it has none.
    fileprivate var firstCertificate: String {
        guard let start = range(of: "-----BEGIN CERTIFICATE-----"), let end = range(of: "-----END CERTIFICATE-----"),
            start.lowerBound < end.lowerBound
        else { return "" }
        return String(self[start.lowerBound..<end.upperBound])
    }
}
