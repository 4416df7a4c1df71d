import Authority
import Crypto
import Delivery
import Domain
import Encoding
import Foundation
import Operations
import SwiftASN1
import X509

/// What the service needs towards wallets, among the keys: `wallet.key`, `wallet.pem`, the issuers, and the root of the
/// list of issuers.
enum WalletFiles {
    private static let certificateName = KeyFiles.Name.walletCertificate.rawValue
    private static let listRootName = "vical.pem"
    /// The files that SIGHUP reloads.
    static let names = [KeyFiles.Name.walletKey.rawValue, certificateName, listRootName, "\(IssuerFiles.name)/*.pem"]

    /// What the files contain, as the service uses it.
    struct Content {
        let trust: IssuerTrust
        let reader: WalletReader
        let listRoots: TrustList.Roots?
    }

    /// Loads what the policy needs; `nil` if it enables no wallets.
    ///
    /// - Throws: ``CommandFailure`` that names the file.
    static func wallet(
        in directory: String, policy: CurrentPolicy, allowsLoopback: Bool, now: @escaping @Sendable () -> Date
    ) throws(CommandFailure) -> Wallet? {
        guard policy[\.wallet].enabled else { return nil }
        let content = try content(in: directory, policy[\.wallet])
        return Wallet(trust: content.trust, reader: content.reader, listRoots: content.listRoots, now: now) {
            await ListReader(policy[\.delivery], allowingLoopback: allowsLoopback)($0, of: $1)
        }
    }

    /// Reads the files.
    ///
    /// - Throws: `CommandFailure` that names the file.
    static func content(in directory: String, _ policy: WalletPolicy) throws(CommandFailure) -> Content {
        let listRoots = policy.vicalURL.isEmpty ? nil : try listRoots(in: directory)
        let trust = try IssuerFiles.trust(in: "\(directory)/\(IssuerFiles.name)", mayBeEmpty: listRoots != nil)
        let (reader, _) = try reader(in: directory, named: policy.clientID)
        return Content(trust: trust, reader: reader, listRoots: listRoots)
    }

    /// The roots of the signer of the list of issuers.
    ///
    /// - Throws: `CommandFailure` that names the file.
    static func listRoots(in directory: String) throws(CommandFailure) -> TrustList.Roots {
        let file = KeyFile(path: "\(directory)/\(listRootName)", isPrivate: false)
        guard file.exists else {
            throw CommandFailure(
                "wallet.yaml names a list of issuers, and \(file.path) is missing. Store the root of the list's signer "
                    + "there, as its provider publishes it.")
        }
        let certificates = try certificates(in: file)
        do throws(AuthorityError) {
            return try TrustList.Roots(certificates)
        } catch {
            throw CommandFailure("\(file.path) has a certificate that is not that of an authority.")
        }
    }

    /// Fetches the list of issuers by its URL.
    static func fetchList(_ policy: DeliveryPolicy, allowsLoopback: Bool, _ url: String) async -> [UInt8]? {
        await ListReader(policy, allowingLoopback: allowsLoopback, accept: "*/*")(url, of: .issuerList)
    }

    /// A file of certificates, its end, and the source of the next one.
    typealias End = (path: String, end: Date, source: String)

    /// When the certificates expire, with the paths of their files.
    ///
    /// - Throws: ``CommandFailure`` that names the file.
    static func ends(in directory: String, _ policy: WalletPolicy) throws(CommandFailure) -> [End] {
        var ends: [End] = [
            ("\(directory)/\(certificateName)", try reader(in: directory).end, "the scheme of wallets")
        ]
        for (file, anchor) in try IssuerFiles.anchors(in: "\(directory)/\(IssuerFiles.name)") {
            ends.append(("\(directory)/\(IssuerFiles.name)/\(file)", anchor.end, "the issuer"))
        }
        guard !policy.vicalURL.isEmpty else { return ends }
        let file = KeyFile(path: "\(directory)/\(listRootName)", isPrivate: false)
        // A list is trusted until the last of its roots ends: the next one may be there already.
        let last = try certificates(in: file).compactMap { try? Certificate(derEncoded: $0).notValidAfter }.max()
        if let last { ends.append((file.path, last, "the provider of the list of issuers")) }
        return ends
    }

    /// The certificate for wallets and its key, and when it expires. Self-signed certificates are left out: wallets know their roots.
    ///
    /// - Parameter isNext: whether they are those that a rotation has staged.
    static func reader(
        in directory: String, named kind: WalletReader.NameKind = .certificateHash, isNext: Bool = false
    ) throws(CommandFailure) -> (reader: WalletReader, end: Date) {
        let keyFile = KeyFiles.file(isNext ? .nextWalletKey : .walletKey, in: directory)
        let file = KeyFiles.file(isNext ? .nextWalletCertificate : .walletCertificate, in: directory)
        guard keyFile.exists, file.exists else {
            throw CommandFailure(
                "wallet.yaml enables wallets, and \(keyFile.path) or \(file.path) is missing. Store the certificate that "
                    + "a scheme of wallets issued to you there, with its key.")
        }
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: try keyFile.read()) else {
            throw CommandFailure("\(keyFile.path) is not a P-256 key in PEM.")
        }
        var chain: [[UInt8]] = []
        for bytes in try certificates(in: file) {
            guard let certificate = try? Certificate(derEncoded: bytes) else {
                throw CommandFailure("\(file.path) has a certificate that cannot be read.")
            }
            if certificate.issuer != certificate.subject { chain.append(bytes) }
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
                    + "\(WalletReader.NameKind.certificateHash.rawValue).")
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

    private static func certificates(in file: KeyFile) throws(CommandFailure) -> [[UInt8]] {
        let text = try file.read()
        guard let documents = try? PEMDocument.parseMultiple(pemString: text), !documents.isEmpty,
            documents.allSatisfy({ $0.discriminator == "CERTIFICATE" })
        else { throw CommandFailure("\(file.path) is not a chain of certificates in PEM.") }
        return documents.map(\.derBytes)
    }
}
