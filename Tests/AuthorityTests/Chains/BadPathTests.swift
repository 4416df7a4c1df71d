import Crypto
import Domain
import Encoding
import Fixtures
import Foundation
import SwiftASN1
import Testing
import X509

@testable import Authority

@Suite("A path of certificates with a fault")
struct BadPathTests {
    /// Who verifies paths. A new one is added here, and says why it accepts what others refuse.
    enum Verifier: CaseIterable {
        case androidKey
        case appAttest
        case client
        case mobileDocument
        case selectiveDisclosure
        case statusList
        case trustList

        var accepted: Set<BadPath> {
            switch self {
            // The device sets the dates of the key's own certificate.
            case .androidKey: [.targetExpired, .targetNotYetValid]
            // The authority is configured: only its name, key, dates and usage count.
            case .client: [.authorityIssuer, .unknownInAuthority, .nameConstraints]
            // The authority is configured, and must have the profile of one, whoever issued it.
            case .mobileDocument, .selectiveDisclosure, .statusList: [.authorityIssuer]
            case .appAttest, .trustList: []
            }
        }

        func accepts(_ fault: BadPath?) throws -> Bool {
            switch self {
            case .androidKey: try Self.acceptsAndroidKey(fault)
            case .appAttest: try Self.acceptsAppAttest(fault)
            case .client: try Self.acceptsClient(fault)
            case .mobileDocument:
                try Self.acceptsSigner(fault, .init(oid: WalletIssuer.documentSigning)) { _ in
                    .mobileDocument(type: "type")
                }
            case .selectiveDisclosure: try Self.acceptsSigner(fault, nil) { _ in .selectiveDisclosure(type: "type") }
            case .statusList:
                try Self.acceptsSigner(fault, nil) { .statusList(root: Array(SHA256.hash(data: $0))) }
            case .trustList: try Self.acceptsTrustList(fault)
            }
        }
    }

    @Test("is refused by every verifier, but for the faults that it says to accept", arguments: Verifier.allCases)
    func refused(verifier: Verifier) throws {
        #expect(try verifier.accepts(nil))
        for fault in BadPath.allCases {
            #expect(try verifier.accepts(fault) == verifier.accepted.contains(fault), "\(verifier) \(fault)")
        }
    }

    @Test("is refused by openssl as well, which knows constraints on names")
    func openssl() async throws {
        for fault in [nil] + BadPath.allCases.map(Optional.some) {
            let specimen = BadPathSpecimen(fault)
            let scratch = try ScratchDirectory()
            let targets = try specimen.targets(nil, named: AttestationCertificate.name("Target"))
            func pem(_ certificates: [[UInt8]]) -> String {
                certificates.map { PEM.encode($0, label: "CERTIFICATE") }.joined()
            }
            let between = try [specimen.authority(isRoot: false)] + targets.dropFirst()
            let result = try await Command.run(
                "openssl",
                [
                    "verify", "-CAfile", try scratch.write(pem([specimen.root()]), "root.pem"), "-untrusted",
                    try scratch.write(pem(between), "between.pem"), "-attime", seconds(specimen.now),
                    try scratch.write(pem(Array(targets.prefix(1))), "target.pem"),
                ])
            #expect((result.status == 0) == (fault == nil || fault == .nameConstraints), "\(fault as Any)")
        }
    }

    @Test("meets no other verifier than those: a signature of a certificate is verified in two places")
    func verifiers() throws {
        // A request proves only that its sender has the key.
        let files = try SourceFile.all(below: "Sources")
        func users(of call: Regex<Substring>) -> Set<String> {
            Set(files.filter { $0.text.contains(call) }.map(\.name))
        }
        #expect(
            users(of: /isValidSignature\(\s*(?:[\w$]+\.signature, for:|signature, for: self\b)/)
                == ["CertificateIssuer.swift", "CertificationPath.swift", "CertificationRequest.swift"])
        #expect(users(of: /\bCertificationPath\(/) == ["AppAttestObject.swift", "AttestationChain.swift"])
        #expect(
            users(of: /\.issuer\(\s*among:/) == ["ClientChain.swift", "IssuerTrust.swift", "TrustList+Roots.swift"])
    }
}

extension BadPathTests.Verifier {
    private static let digest = AttestationVerifier.digest(challenge: "challenge", subject: "subject")

    private static func acceptsAndroidKey(_ fault: BadPath?) throws -> Bool {
        var mint = AndroidKeyMint()
        let now = mint.now
        switch fault {
        case .targetExpired: mint.leafUntil = now - 60
        case .targetNotYetValid: mint.leafFrom = now + 60
        case .authorityExpired: mint.batchUntil = now - 60
        case .authorityNotYetValid: mint.batchFrom = now + 60
        case .targetIssuer: mint.leafIssuer = "Other"
        case .authorityIssuer: mint.batchIssuer = "Other"
        case .notAnAuthority: mint.isBatchAuthority = false
        case .mayNotCertify: mint.batchUsage = KeyUsage(digitalSignature: true)
        case .tooLong: mint.pathLength = 0
        case .unknownInTarget: mint.extensions[0] = [AttestationCertificate.unknown]
        case .unknownInAuthority: mint.extensions[1] = [AttestationCertificate.unknown]
        case .nameConstraints: mint.extensions[2] = [AttestationCertificate.nameConstraints]
        case nil, .targetSignature, .respelled: break
        }
        var chain = try mint.chain(digest)
        if fault == .targetSignature { chain[0] = try AndroidKeyMint().chain(digest, of: mint.deviceKey.publicKey)[0] }
        if fault == .respelled { chain[0] = try BadPathSpecimen.respelled { try mint.chain(digest)[0] } }
        let key = try DevicePublicKey(subjectPublicKeyInfo: Array(mint.deviceKey.publicKey.derRepresentation))
        let verifier = try AttestationVerifier(apple: [], google: [mint.root()])
        return
            (try? verifier.verifyAndroidKey(
                chain, key: key, digest: digest,
                apps: [AttestedApp(package: AndroidKeyMint.package, certificate: AndroidKeyMint.signer)].compactMap(
                    \.self), demands: ([.tee], 0), now: now)) != nil
    }

    private static func acceptsAppAttest(_ fault: BadPath?) throws -> Bool {
        var (mint, time) = (AppAttestMint(), AppAttestMint().now)
        switch fault {
        case .targetExpired: mint.leafUntil = mint.now - 60
        case .authorityExpired: mint.intermediateUntil = mint.now - 60
        // Both begin a day before the mint's time.
        case .targetNotYetValid, .authorityNotYetValid: time = mint.now - 2 * 86_400
        case .targetIssuer: mint.leafIssuer = "Other"
        case .authorityIssuer: mint.intermediateIssuer = "Other"
        case .targetSignature: mint.leafSigner = P384.Signing.PrivateKey()
        case .notAnAuthority: mint.isIntermediateAuthority = false
        case .mayNotCertify: mint.intermediateUsage = KeyUsage(digitalSignature: true)
        // An object has two certificates, so none of its authorities is above another.
        case .tooLong: return false
        case .unknownInTarget: mint.leafExtensions = [AttestationCertificate.unknown]
        case .unknownInAuthority: mint.intermediateExtensions = [AttestationCertificate.unknown]
        case .nameConstraints: mint.intermediateExtensions = [AttestationCertificate.nameConstraints]
        case nil, .respelled: break
        }
        var object = try mint.object(digest)
        if fault == .respelled {
            mint.changingLeaf = { BadPathSpecimen.respelled($0) ?? [] }
            // A leaf that cannot be changed is empty, which makes the object shorter.
            let length = object.count
            repeat { object = try mint.object(digest) } while object.count + 200 < length
        }
        let verifier = try AttestationVerifier(apple: [mint.root()], google: [])
        return
            (try? verifier.verifyAppAttest(
                object, keyID: mint.keyID, digest: digest,
                apps: [AttestedApp(apple: AppAttestMint.app)].compactMap(\.self), allowsDevelopment: false, now: time))
            != nil
    }

    private static func acceptsClient(_ fault: BadPath?) throws -> Bool {
        let specimen = BadPathSpecimen(fault)
        let name = try DistinguishedName { CommonName(UUID().uuidString) }
        let targets = try specimen.targets(.clientAuth, named: name)
        let authority = try specimen.authority(isRoot: true)
        return (try? ClientChain(trusting: [authority]).verify(targets + [authority], now: specimen.now)) != nil
    }

    private static func acceptsSigner(
        _ fault: BadPath?, _ purpose: ExtendedKeyUsage.Usage?, _ use: ([UInt8]) -> IssuerTrust.Use
    ) throws -> Bool {
        let specimen = BadPathSpecimen(fault)
        let targets = try specimen.targets(purpose, named: AttestationCertificate.name("Target"))
        let authority = try specimen.authority(isRoot: true)
        guard let anchor = try? IssuerTrust.Anchor(authority, types: nil) else { return false }
        let signer = try? IssuerTrust([anchor]).signer(
            of: targets + [authority], for: use(authority), now: specimen.now)
        return signer != nil
    }

    private static func acceptsTrustList(_ fault: BadPath?) throws -> Bool {
        let specimen = BadPathSpecimen(fault)
        let targets = try specimen.targets(
            .init(oid: TrustListMint.listSigning), named: AttestationCertificate.name("Target"))
        let roots = try TrustList.Roots([specimen.root()])
        return (try? roots.key(of: targets + [specimen.authority(isRoot: false)], now: specimen.now)) != nil
    }
}
