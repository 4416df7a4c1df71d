import Crypto
import Domain
import Fixtures
import Foundation
import SwiftASN1
import Testing
import X509

@testable import Authority

@Suite("A list of issuers' authorities")
struct TrustListTests {
    private let now = TestAuthority.referenceTime
    private let issuer: WalletIssuer
    private let mint: TrustListMint
    private let roots: TrustList.Roots

    init() throws {
        issuer = try WalletIssuer()
        mint = try TrustListMint([issuer], now: issuer.now)
        roots = try TrustList.Roots([mint.root])
    }

    /// Whether a list with a fault is refused.
    private func isRefused(
        by roots: TrustList.Roots? = nil, now: Date? = nil, _ change: (inout TrustListMint) throws -> Void = { _ in }
    ) throws -> Bool {
        var mint = mint
        try change(&mint)
        let bytes = try mint.list()
        return (try? TrustList(bytes, rootedIn: roots ?? self.roots, now: now ?? self.now)) == nil
    }

    @Test("adds its issuers to those that are trusted, for the types that it names")
    func accepted() throws {
        let list = try TrustList(mint.list(), rootedIn: roots, now: now)
        #expect(list.provider == "Association of Examples" && list.anchors.count == 1 && list.unusable == 0)
        #expect(list.date == mint.date && list.nextUpdate == mint.nextUpdate)
        #expect(TrustList.end(date: list.date, nextUpdate: list.nextUpdate, grace: 60) == now + 86_460)
        let trust = IssuerTrust([]).adding(list.anchors)
        let chain = [issuer.certificate]
        #expect(
            try trust.signer(of: chain, for: .mobileDocument(type: DocumentMint.licence), now: now) == issuer.signer())
        #expect(throws: PresentationDefect.self) {
            try trust.signer(of: chain, for: .mobileDocument(type: "org.iso.23220.1"), now: now)
        }
    }

    @Test("leaves out certificates that are not those of an issuer's authority")
    func unusable() throws {
        var mint = mint
        let edwards = Certificate.PublicKey(P521.Signing.PrivateKey().publicKey)
        mint.entries += [
            (issuer.certificate, ["a"]), ([0x30, 0], ["a"]), (issuer.root, []),
            (try issuer.certified(key: edwards, WalletIssuer.authority()), ["a"]),
        ]
        let list = try TrustList(mint.list(), rootedIn: roots, now: now)
        #expect(list.anchors.count == 1 && list.unusable == 4)
        #expect(try isRefused { $0.entries = [(issuer.certificate, ["a"])] })
    }

    @Test("is signed by a signer of lists that leads to a trusted root")
    func signer() throws {
        #expect(try !isRefused())
        #expect(try isRefused(by: TrustList.Roots([])))
        #expect(try isRefused(by: TrustList.Roots([TrustListMint([], now: now).root])))
        // The root is trusted because it was configured, and may be left out.
        #expect(try !isRefused { $0.certificates.removeLast() })
        #expect(try isRefused { $0.certificates.remove(at: 1) })
        #expect(try isRefused { $0.certificates = [] })
        #expect(try isRefused { $0.certificates += [$0.root, $0.root] })
        #expect(try isRefused { $0.certificates = try TrustListMint([], now: now).certificates })
        for extensions in [
            try WalletIssuer.signer(), try WalletIssuer.signer(purposes: []),
            try WalletIssuer.signer(KeyUsage(keyAgreement: true), purposes: [TrustListMint.listSigning]),
            try WalletIssuer.signer(
                purposes: [TrustListMint.listSigning], constraints: .isCertificateAuthority(maxPathLength: 0)),
            try WalletIssuer.signer(
                purposes: [TrustListMint.listSigning],
                additional: Certificate.Extension(oid: [1, 2, 3, 4], critical: true, value: [5, 0])),
        ] {
            #expect(try isRefused { $0.certificates[0] = try $0.signer(extensions) })
        }
        #expect(try isRefused { $0.certificates[0] = try $0.signer(from: now + 60) })
        #expect(try isRefused { $0.certificates[0] = try $0.signer(until: now - 60) })
        #expect(try isRefused(now: now + 5_000 * 86_400))
    }

    @Test("has a path as long as its authorities permit")
    func path() throws {
        // The authority between is trusted itself.
        #expect(try !isRefused(by: TrustList.Roots([mint.certificates[1]])))
        for (length, expected) in [(0, true), (1, false), (nil, false)] as [(Int?, Bool)] {
            let other = try TrustListMint([issuer], now: now, pathLength: length)
            let list = try other.list()
            let roots = try TrustList.Roots([other.root])
            let isRefused = (try? TrustList(list, rootedIn: roots, now: now)) == nil
            #expect(isRefused == expected)
        }
        #expect(throws: AuthorityError.notAnAuthority) { try TrustList.Roots([mint.certificates[0]]) }
        #expect(throws: AuthorityError.malformedCertificate) { try TrustList.Roots([[0x30, 0]]) }
    }

    @Test("has a version and a date that has come")
    func content() throws {
        #expect(try isRefused { $0.version = "2.0" })
        #expect(try isRefused { $0.date = now + 61 })
        #expect(try !isRefused { $0.date = now + 59 })
        var undated = mint
        undated.nextUpdate = nil
        let list = try TrustList(undated.list(), rootedIn: roots, now: now)
        #expect(TrustList.end(date: list.date, nextUpdate: nil, grace: 0) == mint.date + 86_400)
        let long = [UInt8](repeating: 0, count: TrustList.maximumLength + 1)
        #expect(throws: TrustList.Defect.self) { try TrustList(long, rootedIn: roots, now: now) }
    }

    @Test("is refused with any bit changed outside its certificates")
    func flips() throws {
        let bytes = try mint.list()
        let unsigned = try mint.certificates.map { try #require(bytes.firstRange(of: $0)) }
        let first = try #require(unsigned.map(\.lowerBound).min())
        let last = try #require(unsigned.map(\.upperBound).max())
        // The label of the certificates and their lengths are not signed either.
        for place in bytes.indices where !((first - 6)..<last).contains(place) {
            var changed = bytes
            changed[place] ^= 1
            #expect((try? TrustList(changed, rootedIn: roots, now: now)) == nil, "\(place)")
        }
    }
}
