import Crypto
import Encoding
import Foundation
import SwiftASN1
import X509

/// Mints lists of issuers' authorities (VICAL), with the faults that its properties make.
package struct TrustListMint: Sendable {
    /// The certificate to which the list's signer leads, in DER.
    package let root: [UInt8]
    /// The signer's certificate, that of the authority between, and the root, as published lists have them.
    package var certificates: [[UInt8]]
    package var entries: [(certificate: [UInt8], types: [String])]
    package var version = "1.0"
    package var (date, nextUpdate): (Date, Date?)

    package static let listSigning: ASN1ObjectIdentifier = [1, 0, 18013, 5, 1, 8]

    private let issuer: WalletIssuer
    private let authorityKey = P256.Signing.PrivateKey()
    private let signerKey = P256.Signing.PrivateKey()

    /// - Parameters:
    ///   - listed: the issuers in the list.
    ///   - pathLength: that of the root.
    package init(_ listed: [WalletIssuer], now: Date, pathLength: Int? = 1) throws {
        let rootKey = P256.Signing.PrivateKey()
        issuer = try WalletIssuer(now: now)
        root = try issuer.certified(
            subject: Self.root, issuer: Self.root, key: .init(rootKey.publicKey), by: .init(rootKey),
            WalletIssuer.authority(.isCertificateAuthority(maxPathLength: pathLength)))
        let authority = try issuer.certified(
            subject: Self.authority, issuer: Self.root, key: .init(authorityKey.publicKey), by: .init(rootKey),
            WalletIssuer.authority())
        entries = listed.map { ($0.root, [DocumentMint.licence]) }
        (date, nextUpdate) = (now - 60, now + 86_400)
        certificates = []
        certificates = [try signer(), authority, root]
    }

    private static let root = WalletIssuer.name("List root")
    private static let authority = WalletIssuer.name("List authority")

    /// A certificate of the list's signer.
    package func signer(
        _ extensions: [Certificate.Extension]? = nil, from: Date? = nil, until: Date? = nil
    ) throws -> [UInt8] {
        try issuer.certified(
            subject: WalletIssuer.name("List signer"), issuer: Self.authority, key: .init(signerKey.publicKey),
            from: from, until: until, by: .init(authorityKey),
            extensions ?? WalletIssuer.signer(purposes: [Self.listSigning]))
    }

    /// The signed list.
    package func list() throws -> [UInt8] {
        var content: [CBORKey: CBORValue] = [
            "version": .text(version), "vicalProvider": .text("Association of Examples"),
            "date": DocumentMint.time(date),
            "certificateInfos": .array(
                entries.map { entry in
                    .map([
                        "certificate": .bytes(entry.certificate[...]), "docType": .array(entry.types.map { .text($0) }),
                        "serialNumber": .tagged(CBORTag(2, .bytes([1, 2, 3]))),
                    ])
                }),
        ]
        content["nextUpdate"] = nextUpdate.map(DocumentMint.time)
        return try DocumentMint.sign(
            CBORValue.map(content).encoded, by: signerKey,
            unprotected: certificates.isEmpty ? [:] : [33: .array(certificates.map { .bytes($0[...]) })]
        ).encoded
    }
}
