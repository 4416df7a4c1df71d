import Authority
import Domain
import Encoding
import Foundation
import NIOSSL
import Operations

/// The new file with an administrator's certificate: for a request the certificate in PEM, otherwise a new key with its
/// certificate in PKCS#12. Only its owner can read it.
struct AdminCertificateFile {
    /// What the store keeps of it.
    let certificate: AdministratorCertificate
    /// Opens the PKCS#12 file. It is shown once.
    let password: String?
    let path: String
    private let file: ArchiveFile

    /// Seconds for which a certificate is valid by default.
    static let validity: TimeInterval = 30 * 86_400

    /// Certifies a key and writes the file under a temporary name.
    ///
    /// - Parameters:
    ///   - request: the file of a PKCS#10 request; `nil` for a new key.
    ///   - end: the end of the validity; `nil` for the default.
    /// - Throws: ``CommandFailure``, also if the file exists; `Refusal` `invalid_csr`.
    init(path: String, name: String, request: String?, end: Date?, authority: CertificateAuthority, _ admin: Admin)
        throws
    {
        let now = admin.environment.now()
        let validity = Int((end ?? now.addingTimeInterval(Self.validity)).timeIntervalSince(now))
        func issue(_ key: DevicePublicKey) throws -> IssuedCertificate {
            try authority.issueAdministratorCertificate(
                key, name: name, serial: admin.environment.randomBytes(16), now: now, validity: validity)
        }
        let issued: IssuedCertificate
        let content: [UInt8]
        if let request {
            guard let text = try? String(contentsOfFile: request, encoding: .utf8) else {
                throw CommandFailure("\(request) cannot be read. Give the path of a PKCS#10 request in PEM form.")
            }
            issued = try issue(CertificationRequest.parse(pkcs10: text).publicKey)
            content = Array(issued.pem.utf8)
            password = nil
        } else {
            let (key, pem) = try SigningKey.generate()
            issued = try issue(DevicePublicKey(subjectPublicKeyInfo: key.subjectPublicKeyInfo))
            let new = Self.newPassword(admin.environment.randomBytes)
            let chain = try ([issued.der] + authority.chain).map { try NIOSSLCertificate(bytes: $0, format: .der) }
            content = try NIOSSLPKCS12Bundle(
                certificateChain: chain, privateKey: NIOSSLPrivateKey(bytes: Array(pem.reveal().utf8), format: .pem)
            ).serialize(passphrase: new.utf8)
            password = new
        }
        certificate = AdministratorCertificate(
            thumbprint: Digest256.of(issued.der), notAfter: issued.notAfter, authority: authority.id)
        self.path = path
        file = try ArchiveFile(path: path)
        do {
            try file.write(content)
        } catch {
            file.discard()
            throw error
        }
    }

    /// Gives the file its name, after the store has the certificate.
    func finish(name: String) throws(CommandFailure) {
        do {
            try file.finish()
        } catch {
            file.discard()
            throw CommandFailure("\(error.sentence) Repeat it with `countersign admin renew \(name)`.")
        }
    }

    func discard() { file.discard() }

    /// 125 random bits in five groups of letters and digits that are not confused with each other.
    private static func newPassword(_ randomBytes: (Int) -> [UInt8]) -> String {
        let alphabet = Array("abcdefghijkmnpqrstuvwxyz23456789")
        let letters = randomBytes(25).map { alphabet[Int($0 & 31)] }
        return stride(from: 0, to: letters.count, by: 5).map { String(letters[$0..<min($0 + 5, letters.count)]) }
            .joined(separator: "-")
    }
}
