import Authority
import Domain
import Encoding
import Foundation

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
        let (key, certificate) = (file(.adminAuthorityKey), file(.adminAuthorityCertificate))
        if isFirst, !certificate.exists { try create(key, certificate) }
        let signingKey = try KeyFiles.signingKey(try key.read(), .adminAuthorityKey, directory)
        let pem = try certificate.read()
        do {
            return try CertificateAuthority(certificatePEM: pem, signingKey: signingKey)
        } catch let error as AuthorityError {
            throw CommandFailure("\(certificate.path): \(error.description)")
        } catch {
            throw CommandFailure("\(certificate.path) and \(key.path) cannot be used together.")
        }
    }

    /// The key first, so that an interrupted run can be repeated.
    private func create(_ key: KeyFile, _ certificate: KeyFile) throws(CommandFailure) {
        let pem: String
        do {
            if !key.exists { try key.create(try SigningKey.generate().pem.reveal()) }
            let signingKey = try KeyFiles.signingKey(try key.read(), .adminAuthorityKey, directory)
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

    private func file(_ name: KeyFiles.Name) -> KeyFile { KeyFiles.file(name, in: directory) }
}
