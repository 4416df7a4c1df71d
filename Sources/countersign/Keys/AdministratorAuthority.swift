import Authority
import Domain
import Encoding
import Foundation
import SwiftASN1
import X509

/// The authority of administrators' certificates. It is not the authority of devices: no certificate of a device can
/// make an administrator.
struct AdministratorAuthority {
    let directory: String
    let now: Date
    /// Returns a number of random bytes.
    let randomBytes: (Int) -> [UInt8]

    /// The authority in `admin-ca.key` and `admin-ca.pem`. If neither file exists, both are created.
    ///
    /// - Parameter isFirst: whether the authority may be created. Later certificates would be of another authority than
    ///   those that administrators have.
    /// - Throws: ``CommandFailure`` that names the file.
    func open(isFirst: Bool) throws(CommandFailure) -> CertificateAuthority {
        if isFirst, !KeyFiles.file(.adminAuthorityCertificate, in: directory).exists {
            try create(.adminAuthorityKey, .adminAuthorityCertificate)
        }
        return try read(.adminAuthorityKey, .adminAuthorityCertificate)
    }

    /// Reads an authority and its key.
    ///
    /// - Throws: ``CommandFailure`` that names the file.
    func read(
        _ keyName: KeyFiles.Name, _ certificateName: KeyFiles.Name
    ) throws(CommandFailure) -> CertificateAuthority {
        let (key, certificate) = (
            KeyFiles.file(keyName, in: directory), KeyFiles.file(certificateName, in: directory)
        )
        let signingKey = try KeyFiles.signingKey(try key.read(), keyName, directory)
        let pem = try certificate.read()
        do {
            return try CertificateAuthority(certificatePEM: pem, signingKey: signingKey)
        } catch AuthorityError.keyMismatch {
            throw CommandFailure(
                "\(certificate.path) does not belong to \(key.path): copy both from the host that has the pair, or finish "
                    + "the rotation with `countersign keys rotate admin-ca`.")
        } catch let error as AuthorityError {
            throw CommandFailure("\(certificate.path): \(error.description)")
        } catch {
            throw CommandFailure("\(certificate.path) and \(key.path) cannot be used together.")
        }
    }

    /// Creates an authority, the key first, so that an interrupted run can be repeated. A key that exists is used.
    ///
    /// - Throws: ``CommandFailure`` that names the file.
    func create(_ keyName: KeyFiles.Name, _ certificateName: KeyFiles.Name) throws(CommandFailure) {
        let (key, certificate) = (
            KeyFiles.file(keyName, in: directory), KeyFiles.file(certificateName, in: directory)
        )
        let pem: String
        do {
            if !key.exists { try key.create(try SigningKey.generate().pem.reveal()) }
            let signingKey = try KeyFiles.signingKey(try key.read(), keyName, directory)
            let digest = Digest256.of(signingKey.subjectPublicKeyInfo).base64URL.prefix(8)
            pem = try CertificateAuthority.createRoot(
                commonName: "Countersign admin CA \(digest)", signingKey: signingKey, serial: randomBytes(16), now: now
            ).chainPEM.joined()
        } catch let failure as CommandFailure {
            throw failure
        } catch let error as AuthorityError {
            throw CommandFailure("\(certificate.path) cannot be created: \(error.description)")
        } catch {
            throw CommandFailure("\(certificate.path) cannot be created.")
        }
        try certificate.create(pem)
    }
}

/// The authorities of administrators that the console trusts: the current one, and during a rotation the next one or the
/// former one. Only their certificates are needed.
struct AdministratorAuthorities: Sendable {
    private let current: [[UInt8]]
    private let others: [[UInt8]]
    /// The end of the current authority.
    let endsAt: Date
    /// The digest of the former authority's key; `nil` if there is no former authority.
    let formerID: Digest256?

    /// - Throws: ``CommandFailure`` that names the file.
    init(in directory: String) throws(CommandFailure) {
        typealias Found = [(der: [UInt8], certificate: Certificate)]
        func certificates(_ name: KeyFiles.Name) throws(CommandFailure) -> Found {
            let file = KeyFiles.file(name, in: directory)
            let text = try file.read()
            let documents = (try? PEMDocument.parseMultiple(pemString: text)) ?? []
            let found: Found = documents.compactMap { document in
                (try? Certificate(pemDocument: document)).map { (document.derBytes, $0) }
            }
            guard !found.isEmpty, found.count == documents.count else {
                throw CommandFailure("\(file.path) is not a certificate in PEM; restore it from its backup.")
            }
            return found
        }
        func certificatesIfThere(_ name: KeyFiles.Name) throws(CommandFailure) -> Found {
            KeyFiles.file(name, in: directory).exists ? try certificates(name) : []
        }
        let present = try certificates(.adminAuthorityCertificate)
        let former = try certificatesIfThere(.formerAdminAuthorityCertificate)
        let all = try certificatesIfThere(.nextAdminAuthorityCertificate) + former
        let current = present.map(\.der)
        self.current = current
        // A stopped step leaves one authority under two names.
        others = all.map(\.der).filter { !current.contains($0) }
        endsAt = present.map(\.certificate.notValidAfter).min() ?? .distantPast
        do {
            formerID = try former.first.map { former in
                var key = DER.Serializer()
                try key.serialize(former.certificate.publicKey)
                return Digest256.of(key.serializedBytes)
            }
        } catch {
            throw CommandFailure("The key in admin-ca-former.pem cannot be read; restore the file from its backup.")
        }
    }

    /// The certificates in DER, those of the current authority first.
    var chains: [[UInt8]] { current + others }

    /// The digests by which nodes compare them: the current one, 1, followed by the others.
    var fingerprints: [Int: Digest256] {
        var digests: [Int: Digest256] = [:]
        for (index, certificate) in (current.prefix(1) + others).enumerated() {
            digests[index + 1] = Digest256.of(certificate)
        }
        return digests
    }
}
