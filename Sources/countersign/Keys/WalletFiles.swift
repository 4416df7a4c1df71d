import Authority
import Crypto
import Delivery
import Domain
import Encoding
import Foundation
import Operations
import SwiftASN1
import X509

/// What the service needs towards wallets, among the keys: `wallet.key`, `wallet.pem` and the issuers.
enum WalletFiles {
    private static let keyName = "wallet.key"
    private static let certificateName = "wallet.pem"

    /// Loads what the policy needs; `nil` if it enables no wallets.
    ///
    /// - Throws: ``CommandFailure`` that names the file.
    static func wallet(
        in directory: String, policy: CurrentPolicy, allowsLoopback: Bool, now: @escaping @Sendable () -> Date
    ) throws(CommandFailure) -> Wallet? {
        guard policy[\.wallet].enabled else { return nil }
        let trust = try IssuerFiles.trust(in: "\(directory)/\(IssuerFiles.name)")
        let (reader, _) = try reader(in: directory, named: policy[\.wallet].clientID)
        return Wallet(trust: trust, reader: reader, now: now) { uri in
            await ListReader(policy[\.delivery], allowingLoopback: allowsLoopback)(uri)
        }
    }

    /// When the certificate for wallets expires, with the path of its file.
    ///
    /// - Throws: ``CommandFailure`` that names the file.
    static func end(in directory: String) throws(CommandFailure) -> (path: String, end: Date) {
        ("\(directory)/\(certificateName)", try reader(in: directory).end)
    }

    /// The certificate for wallets and its key, and when it expires. Self-signed certificates are left out: wallets know their roots.
    private static func reader(
        in directory: String, named kind: WalletPolicy.NameKind = .certificateHash
    ) throws(CommandFailure) -> (reader: WalletReader, end: Date) {
        let keyFile = KeyFile(path: "\(directory)/\(keyName)", isPrivate: true)
        let file = KeyFile(path: "\(directory)/\(certificateName)", isPrivate: false)
        guard keyFile.exists, file.exists else {
            throw CommandFailure(
                "wallet.yaml enables wallets, and \(keyFile.path) or \(file.path) is missing. Store the certificate that "
                    + "a scheme of wallets issued to you there, with its key.")
        }
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: try keyFile.read()) else {
            throw CommandFailure("\(keyFile.path) is not a P-256 key in PEM.")
        }
        let text = try file.read()
        guard let documents = try? PEMDocument.parseMultiple(pemString: text), !documents.isEmpty,
            documents.allSatisfy({ $0.discriminator == "CERTIFICATE" })
        else { throw CommandFailure("\(file.path) is not a chain of certificates in PEM.") }
        var chain: [[UInt8]] = []
        for document in documents {
            guard let certificate = try? Certificate(derEncoded: document.derBytes) else {
                throw CommandFailure("\(file.path) has a certificate that cannot be read.")
            }
            if certificate.issuer != certificate.subject { chain.append(document.derBytes) }
        }
        guard let first = chain.first, let own = try? Certificate(derEncoded: first),
            own.publicKey == Certificate.PublicKey(key.publicKey)
        else {
            throw CommandFailure(
                "\(file.path) does not begin with the certificate of \(keyFile.path), or that one is self-signed, which "
                    + "no wallet accepts.")
        }
        let dnsName = kind == .dnsName ? dnsName(of: own) : nil
        guard kind != .dnsName || dnsName != nil else {
            throw CommandFailure(
                "wallet.yaml has client_id: \(kind.rawValue), and the certificate in \(file.path) has no DNS name. Choose "
                    + "\(WalletPolicy.NameKind.certificateHash.rawValue).")
        }
        return (WalletReader(key: key, certificates: chain, dnsName: dnsName), own.notValidAfter)
    }

    /// The first DNS name in a certificate; `nil` if it has none.
    private static func dnsName(of certificate: Certificate) -> String? {
        let names = (try? certificate.extensions.subjectAlternativeNames).map { Array($0) } ?? []
        return names.lazy.compactMap { name in
            if case .dnsName(let text) = name { text } else { nil }
        }.first
    }
}
