import Authority
import Domain
import Encoding
import Foundation
import SwiftASN1
import Tokens
import X509

/// Creates the missing files in a directory of keys, and does not change the others.
struct KeyCreation {
    /// The result for one file.
    struct Outcome: Equatable {
        let path: String
        let isNew: Bool
    }

    /// The validity of a server's certificate: 397 days, which was the maximum for public authorities.
    static let serverValidity = 397 * 86_400

    let directory: String
    /// DNS names and IP addresses for the server's certificate.
    let hosts: [String]
    let now: Date
    /// Returns a number of random bytes.
    let randomBytes: (Int) -> [UInt8]
    private var outcomes: [Outcome] = []

    init(directory: String, hosts: [String], now: Date, randomBytes: @escaping (Int) -> [UInt8]) {
        self.directory = directory
        self.hosts = hosts
        self.now = now
        self.randomBytes = randomBytes
    }

    /// Creates the missing files, each private key before its certificate, so that an interrupted run can be
    /// repeated.
    ///
    /// - Throws: ``CommandFailure``, also if a certificate exists without its key.
    mutating func run() throws(CommandFailure) -> [Outcome] {
        try prepareDirectory()
        let authority = try createAuthority()
        try createServer(authority)
        try createKey(.nextServerKey)
        try create(.nonceSecret) { Base64URL.encode($0.randomBytes(32)) + "\n" }
        for name in [KeyFiles.Name.phoneCodeSecrets, .wrappingSecrets, .blindIndexSecrets] {
            try create(name) { KeyFiles.line(version: 1, $0.randomBytes(32)) }
        }
        try createKey(.serviceKey)
        try create(.accessTokenKey) { creation throws(CommandFailure) in
            try creation.issuing(.accessTokenKey) { try AccessTokenKeys.generate().reveal() }
        }
        return outcomes
    }

    private func prepareDirectory() throws(CommandFailure) {
        let manager = FileManager.default
        let known = Set(KeyFiles.Name.allCases.map(\.rawValue) + ["README.md", ".gitignore", ".gitkeep"])
        do {
            if manager.fileExists(atPath: directory) {
                // The mode of a directory with other files is not changed, because they may need it.
                guard known.isSuperset(of: try manager.contentsOfDirectory(atPath: directory)) else { return }
                try manager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: directory)
            } else {
                try manager.createDirectory(
                    atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            }
        } catch {
            throw CommandFailure("\(directory) cannot be created as a directory that only its owner can use.")
        }
    }

    private mutating func createAuthority() throws(CommandFailure) -> CertificateAuthority {
        let (uri, certificate) = (file(.authorityURI), file(.authorityCertificate))
        if uri.exists {
            outcomes.append(Outcome(path: uri.path, isNew: false))
        } else {
            try refuseWithoutKey(.authorityCertificate, .authorityKey)
            try createKey(.authorityKey)
        }
        let key = try KeyFiles.signingKeyOfAuthority(in: directory)
        if !certificate.exists {
            let made = try issuing(.authorityCertificate) {
                try Self.root(of: key, serial: randomBytes(16), now: now)
            }
            try create(.authorityCertificate) { _ in made.chainPEM.joined() }
            return made
        }
        outcomes.append(Outcome(path: certificate.path, isNew: false))
        return try KeyFiles.authority(try certificate.read(), key, in: directory)
    }

    /// A root for a key. Its name contains a part of the key's digest, so two authorities never have the same name.
    static func root(of key: SigningKey, serial: [UInt8], now: Date) throws -> CertificateAuthority {
        let digest = Digest256.of(key.subjectPublicKeyInfo).base64URL.prefix(8)
        return try CertificateAuthority.createRoot(
            commonName: "Countersign CA \(digest)", signingKey: key, serial: serial, now: now)
    }

    private mutating func createServer(_ authority: CertificateAuthority) throws(CommandFailure) {
        try refuseWithoutKey(.serverCertificate, .serverKey)
        try createKey(.serverKey)
        let key = try KeyFiles.signingKey(try file(.serverKey).read(), .serverKey, directory)
        try create(.serverCertificate) { creation throws(CommandFailure) in
            let issued = try creation.issuing(.serverCertificate) {
                try authority.issueServerCertificate(
                    key, hosts: creation.hosts, serial: creation.randomBytes(16), now: creation.now,
                    validity: Self.serverValidity)
            }
            return issued.pem + Self.intermediates(of: authority)
        }
    }

    /// The certificates between the server's and the root; clients have the root (RFC 8446 §4.4.2).
    static func intermediates(of authority: CertificateAuthority) -> String {
        authority.chainPEM.filter { pem in
            guard let certificate = try? Certificate(pemEncoded: pem) else { return true }
            return certificate.issuer != certificate.subject
        }.joined()
    }

    private mutating func createKey(_ name: KeyFiles.Name) throws(CommandFailure) {
        try create(name) { creation throws(CommandFailure) in
            try creation.issuing(name) { try SigningKey.generate().pem.reveal() }
        }
    }

    private mutating func create(
        _ name: KeyFiles.Name, _ content: (KeyCreation) throws(CommandFailure) -> String
    ) throws(CommandFailure) {
        let file = file(name)
        let isNew = !file.exists
        if isNew { try file.create(try content(self)) }
        outcomes.append(Outcome(path: file.path, isNew: isNew))
    }

    /// A certificate without its key means that a key was lost, which a new key would hide.
    private func refuseWithoutKey(_ certificate: KeyFiles.Name, _ key: KeyFiles.Name) throws(CommandFailure) {
        guard file(certificate).exists, !file(key).exists else { return }
        throw CommandFailure(
            "\(file(certificate).path) exists without \(file(key).path); restore the key, or for a new pair run "
                + "`rm \(file(certificate).path)` and this again.")
    }

    private func issuing<Value>(_ name: KeyFiles.Name, _ body: () throws -> Value) throws(CommandFailure) -> Value {
        do {
            return try body()
        } catch let error as AuthorityError {
            throw CommandFailure("\(file(name).path) cannot be created: \(error.description)")
        } catch {
            throw CommandFailure("\(file(name).path) cannot be created.")
        }
    }

    private func file(_ name: KeyFiles.Name) -> KeyFile { KeyFiles.file(name, in: directory) }
}
