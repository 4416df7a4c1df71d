import Crypto
import Domain
import Fixtures
import Foundation
import SwiftASN1
import Testing
import X509

@testable import Authority

@Suite("The trust in issuers of credentials")
struct IssuerTrustTests {
    private let issuer: WalletIssuer
    private let trust: IssuerTrust
    private static let use = IssuerTrust.Use.mobileDocument(type: DocumentMint.licence)

    init() throws {
        issuer = try WalletIssuer()
        trust = IssuerTrust([try IssuerTrust.Anchor(issuer.root, types: [DocumentMint.licence, "urn:eudi:pid:1"])])
    }

    private func refusal(
        _ chain: [[UInt8]], for use: IssuerTrust.Use = use, now: Date? = nil
    ) -> PresentationDefect.Reason? {
        Self.refusal(chain, for: use, now: now ?? issuer.now, by: trust)
    }

    private static func refusal(
        _ chain: [[UInt8]], for use: IssuerTrust.Use, now: Date, by trust: IssuerTrust
    ) -> PresentationDefect.Reason? {
        do throws(PresentationDefect) {
            _ = try trust.signer(of: chain, for: use, now: now)
        } catch { return error.reason }
        return nil
    }

    @Test("names key, place and life of a signer of the issuer")
    func accepted() throws {
        let signer = try trust.signer(of: [issuer.certificate], for: Self.use, now: issuer.now)
        #expect(try signer == issuer.signer())
        // The root in the chain, or anything else after the signer, changes nothing.
        #expect(refusal([issuer.certificate, issuer.root]) == nil)
        #expect(refusal([issuer.certificate, [0]]) == nil)
    }

    @Test("is named to wallets by the keys of all issuers of a type, or not at all")
    func keyIdentifiers() throws {
        #expect(trust.keyIdentifiers(for: DocumentMint.licence) == nil)
        let named = try IssuerTrust.Anchor(issuer.root(named: [1, 2, 3]), types: [DocumentMint.licence])
        let all = try IssuerTrust.Anchor(issuer.root(named: [4, 5]), types: nil)
        #expect(IssuerTrust([named, all]).keyIdentifiers(for: DocumentMint.licence) == [[1, 2, 3], [4, 5]])
        #expect(IssuerTrust([named, all]).keyIdentifiers(for: "urn:eudi:pid:1") == [[4, 5]])
        let unnamed = try IssuerTrust.Anchor(issuer.root, types: [DocumentMint.licence])
        #expect(IssuerTrust([named, unnamed]).keyIdentifiers(for: DocumentMint.licence) == nil)
        #expect(IssuerTrust([named]).keyIdentifiers(for: "other") == nil)
    }

    @Test("ends with the issuer's own certificate, with unknown issuers, and with other types")
    func unknown() throws {
        let other = try WalletIssuer()
        #expect(refusal([]) == .unknownIssuer)
        // Of the same name, but another key.
        #expect(refusal([other.certificate]) == .issuerCertificate)
        #expect(refusal([other.certificate, other.root]) == .issuerCertificate)
        let named = try issuer.certified(issuer: WalletIssuer.name("Other"))
        #expect(refusal([named]) == .unknownIssuer)
        #expect(refusal([issuer.certificate], for: .mobileDocument(type: "other")) == .unknownIssuer)
        // An issuer may have only its own certificate in the chain, and sign with its key.
        #expect(refusal([issuer.root]) == .issuerCertificate)
        #expect(refusal([[0x30, 0]]) == .issuerCertificate)
        #expect(refusal([issuer.certificate + [0]]) == .issuerCertificate)
    }

    @Test("is only in signers with the profile of the standard")
    func profile() throws {
        let clientAuthentication: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 3, 2]
        let unknown = Certificate.Extension(oid: [1, 2, 3, 4], critical: true, value: [5, 0])
        for extensions in [
            try WalletIssuer.signer(purposes: []), try WalletIssuer.signer(purposes: [clientAuthentication]),
            try WalletIssuer.signer(KeyUsage(keyAgreement: true)),
            try WalletIssuer.signer(KeyUsage(digitalSignature: true, keyCertSign: true)),
            try WalletIssuer.signer(constraints: .isCertificateAuthority(maxPathLength: 0)),
            try WalletIssuer.signer(additional: unknown), [],
        ] {
            #expect(try refusal([issuer.certified(extensions)]) == .issuerCertificate)
        }
        #expect(try refusal([issuer.certified(WalletIssuer.signer(constraints: .notCertificateAuthority))]) == nil)
        let p384 = Certificate.PublicKey(P384.Signing.PrivateKey().publicKey)
        #expect(try refusal([issuer.certified(key: p384)]) == nil)
        let p521 = Certificate.PublicKey(P521.Signing.PrivateKey().publicKey)
        #expect(try refusal([issuer.certified(key: p521)]) == .issuerCertificate)
        let edwards = Certificate.PublicKey(Curve25519.Signing.PrivateKey().publicKey)
        #expect(try refusal([issuer.certified(key: edwards)]) == .issuerCertificate)
    }

    @Test("is limited to the life of both certificates")
    func validity() throws {
        let now = issuer.now
        #expect(try refusal([issuer.certified(from: now + 60)]) == .issuerCertificate)
        #expect(try refusal([issuer.certified(until: now - 60)]) == .issuerCertificate)
        let long = try issuer.certified(until: now + 5_000 * 86_400)
        #expect(refusal([long], now: now + 4_000 * 86_400) == .issuerCertificate)
    }

    @Test("in a renewed certificate of an issuer does not depend on the order of the certificates")
    func renewed() throws {
        let now = issuer.now
        func root(from: Date, until: Date) throws -> IssuerTrust.Anchor {
            let root = try issuer.certified(
                subject: WalletIssuer.name("IACA"), key: .init(issuer.rootKey.publicKey), from: from, until: until,
                WalletIssuer.authority())
            return try IssuerTrust.Anchor(root, types: nil)
        }
        let old = try root(from: now - 86_400, until: now - 60)
        let present = try root(from: now - 86_400, until: now + 86_400)
        let next = try root(from: now + 3_600, until: now + 10 * 86_400)
        for anchors in [[old, present, next], [next, present, old], [next, old, present]] {
            let trust = IssuerTrust(anchors)
            for (moment, root) in [(now, present), (now + 2 * 86_400, next)] {
                let signer = try trust.signer(of: [issuer.certificate], for: Self.use, now: moment)
                #expect(signer.root == root.thumbprint)
            }
        }
        #expect(
            Self.refusal([issuer.certificate], for: Self.use, now: now, by: IssuerTrust([next, old]))
                == .issuerCertificate)
    }

    @Test("in signers of other kinds needs no purpose, but the same root")
    func otherUses() throws {
        let plain = try issuer.certified(WalletIssuer.signer(purposes: []))
        #expect(refusal([plain], for: .selectiveDisclosure(type: "urn:eudi:pid:1")) == nil)
        #expect(refusal([plain], for: .selectiveDisclosure(type: "other")) == .unknownIssuer)
        let root = Array(SHA256.hash(data: issuer.root))
        #expect(refusal([plain], for: .statusList(root: root)) == nil)
        #expect(refusal([plain], for: .statusList(root: Array(root.reversed()))) == .unknownIssuer)
    }

    @Test("begins with certificates that have the profile of an authority")
    func anchors() throws {
        for extensions in [
            try WalletIssuer.authority(.isCertificateAuthority(maxPathLength: nil)),
            try WalletIssuer.authority(.isCertificateAuthority(maxPathLength: 1)),
            try WalletIssuer.authority(.notCertificateAuthority),
            try WalletIssuer.authority(.isCertificateAuthority(maxPathLength: 0), KeyUsage(digitalSignature: true)),
        ] {
            let certificate = try issuer.certified(extensions)
            #expect(throws: AuthorityError.notAnAuthority) { try IssuerTrust.Anchor(certificate, types: nil) }
        }
        #expect(throws: AuthorityError.malformedCertificate) { try IssuerTrust.Anchor([0x30, 0], types: nil) }
        let anchor = try IssuerTrust.Anchor(issuer.certified(WalletIssuer.authority()), types: nil)
        #expect(anchor.thumbprint.count == 32)
    }

    @Test("in a signer seen before depends on the time and the use all the same")
    func known() throws {
        let now = issuer.now
        let plain = try issuer.certified(until: now + 86_400, WalletIssuer.signer(purposes: []))
        let use = IssuerTrust.Use.selectiveDisclosure(type: "urn:eudi:pid:1")
        let first = try trust.signer(of: [plain], for: use, now: now)
        #expect(try trust.signer(of: [plain], for: use, now: now) == first)
        #expect(refusal([plain], for: use, now: now + 2 * 86_400) == .issuerCertificate)
        #expect(refusal([plain], for: use, now: now - 20_000 * 86_400) == .issuerCertificate)
        #expect(refusal([plain]) == .issuerCertificate)
        #expect(refusal([plain], for: .selectiveDisclosure(type: "other")) == .unknownIssuer)
        var changed = plain
        changed[changed.count - 1] ^= 1
        #expect(refusal([changed], for: use) == .issuerCertificate)
        // Trust in another set of issuers begins with no signer.
        #expect(Self.refusal([plain], for: use, now: now, by: IssuerTrust([])) == .unknownIssuer)
    }

    @Test("keeps a bounded number of signers")
    func bound() throws {
        let signers = KnownSigners()
        let signer = try issuer.signer()
        func key(_ number: Int) -> KnownSigners.Key {
            KnownSigners.Key(certificate: [UInt8(number >> 8), UInt8(number & 0xFF)], use: Self.use)
        }
        func count() -> Int {
            (0..<1000).count { signers.find(key($0), now: issuer.now) != nil }
        }
        for number in 0..<KnownSigners.maximumCount {
            signers.keep(signer, as: key(number), validity: issuer.now...issuer.now)
        }
        #expect(count() == KnownSigners.maximumCount)
        #expect(signers.find(key(0), now: issuer.now + 1) == nil)
        signers.keep(signer, as: key(999), validity: issuer.now...issuer.now)
        #expect(count() == 1)
    }
}
