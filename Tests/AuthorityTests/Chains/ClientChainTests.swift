import Crypto
import Domain
import Fixtures
import Foundation
import SwiftASN1
import Testing
import X509

@testable import Authority

@Suite("The judgement of a client's chain")
struct ClientChainTests {
    private let authority: TestAuthority
    private let chain: ClientChain
    private let key: Certificate.PrivateKey

    init() throws {
        authority = try TestAuthority()
        chain = try ClientChain(trusting: authority.authority.chain)
        key = try Certificate.PrivateKey(pemEncoded: authority.keyPEM)
    }

    /// A leaf that is right but for what the arguments change, signed by the authority's own key.
    private func leaf(
        subject: DistinguishedName? = nil, extensions: [Certificate.Extension]? = nil,
        version: Certificate.Version = .v3
    ) throws -> [UInt8] {
        let root = try Certificate(derEncoded: authority.authority.chain[0])
        let certificate = try Certificate(
            version: version, serialNumber: Certificate.SerialNumber(bytes: TestAuthority.serial()),
            publicKey: Certificate.PrivateKey(P256.Signing.PrivateKey()).publicKey, notValidBefore: authority.now,
            notValidAfter: authority.now + 60, issuer: root.subject,
            subject: subject ?? DistinguishedName { CommonName(UUID().uuidString) },
            extensions: Certificate.Extensions(extensions ?? Self.extensions()), issuerPrivateKey: key)
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return serializer.serializedBytes
    }

    private static func extensions(
        constraints: BasicConstraints = .notCertificateAuthority,
        usage: KeyUsage = KeyUsage(digitalSignature: true), extended: [ExtendedKeyUsage.Usage] = [.clientAuth],
        additional: Certificate.Extension? = nil
    ) throws -> [Certificate.Extension] {
        try [
            Critical(constraints).makeCertificateExtension(), Critical(usage).makeCertificateExtension(),
            ExtendedKeyUsage(extended).makeCertificateExtension(),
        ] + (additional.map { [$0] } ?? [])
    }

    @Test("names device, serial, thumbprint and life of a leaf of the authority")
    func accepted() throws {
        let device = try authority.device()
        let verified = try chain.verify([device.certificate.der], now: authority.now)
        #expect(verified.deviceID == device.deviceID)
        #expect(verified.serial == device.certificate.serial)
        #expect(verified.thumbprint == device.certificate.thumbprint)
        #expect(verified.notBefore == device.certificate.notBefore)
        #expect(verified.notAfter == device.certificate.notAfter)
        #expect(throws: Never.self) { try chain.verify([leaf()], now: authority.now) }
    }

    @Test("ignores what stands behind the leaf")
    func intermediates() throws {
        let stranger = try TestAuthority()
        let leaf = try authority.device().certificate.der
        #expect(throws: Never.self) {
            try chain.verify([leaf, [1, 2, 3]] + stranger.authority.chain, now: authority.now)
        }
        let foreign = try stranger.device().certificate.der
        #expect(throws: ClientChain.Defect.badSignature) {
            try chain.verify([foreign] + stranger.authority.chain, now: authority.now)
        }
    }

    @Test("trusts the authority before the present one while it is configured")
    func rollover() throws {
        let former = try TestAuthority()
        let both = try ClientChain(trusting: authority.authority.chain + former.authority.chain)
        #expect(throws: Never.self) { try both.verify([former.device().certificate.der], now: authority.now) }
        #expect(throws: ClientChain.Defect.unknownIssuer) {
            try ClientChain(trusting: []).verify([former.device().certificate.der], now: authority.now)
        }
    }

    @Test("holds for the seconds of the leaf's life and for no other")
    func life() throws {
        let certificate = try authority.device(validity: 3600).certificate
        #expect(throws: Never.self) { try chain.verify([certificate.der], now: certificate.notBefore) }
        #expect(throws: Never.self) { try chain.verify([certificate.der], now: certificate.notAfter) }
        #expect(throws: ClientChain.Defect.notYetValid) {
            try chain.verify([certificate.der], now: certificate.notBefore - 1)
        }
        #expect(throws: ClientChain.Defect.expired) {
            try chain.verify([certificate.der], now: certificate.notAfter + 1)
        }
    }

    @Test("refuses another usage")
    func usages() throws {
        let wrong = [
            try Self.extensions(constraints: .isCertificateAuthority(maxPathLength: nil)),
            try Self.extensions(usage: KeyUsage(keyEncipherment: true)),
            try Self.extensions(extended: [.serverAuth]), try Self.extensions(extended: [.any]),
            Array(try Self.extensions().dropFirst()), Array(try Self.extensions().dropLast()), [],
        ]
        for extensions in wrong {
            #expect(throws: ClientChain.Defect.wrongUsage) {
                try chain.verify([leaf(extensions: extensions)], now: authority.now)
            }
        }
        #expect(throws: ClientChain.Defect.wrongUsage) {
            try chain.verify(authority.authority.chain, now: authority.now)
        }
        let server = try authority.authority.issueServerCertificate(
            try SigningKey.generate().key, hosts: ["localhost"], serial: TestAuthority.serial(), now: authority.now,
            validity: 60)
        #expect(throws: ClientChain.Defect.wrongUsage) { try chain.verify([server.der], now: authority.now) }
    }

    @Test("refuses a critical extension that it does not know and passes one that is not critical")
    func unknownExtensions() throws {
        for critical in [true, false] {
            let unknown = Certificate.Extension(oid: [1, 2, 3, 4], critical: critical, value: [0x05, 0x00])
            let leaf = try leaf(extensions: Self.extensions(additional: unknown))
            if critical {
                #expect(throws: ClientChain.Defect.unknownCriticalExtension) {
                    try chain.verify([leaf], now: authority.now)
                }
            } else {
                #expect(throws: Never.self) { try chain.verify([leaf], now: authority.now) }
            }
        }
    }

    @Test("refuses a subject that is not a device id alone")
    func subjects() throws {
        let id = UUID().uuidString
        let subjects = [
            DistinguishedName(), try DistinguishedName { CommonName("phone") },
            try DistinguishedName { OrganizationName(id) },
            try DistinguishedName {
                CommonName(id)
                OrganizationName("x")
            },
        ]
        for subject in subjects {
            #expect(throws: ClientChain.Defect.notADevice) {
                try chain.verify([leaf(subject: subject)], now: authority.now)
            }
        }
    }

    /// A signature has more than one encoding that a lenient reader takes, such as a changed padding octet before an
    /// INTEGER: such a copy says the same as the original, and the issuance table does not know its thumbprint.
    @Test("refuses whatever is changed by a bit, or gives it a thumbprint that no issued certificate has")
    func mutations() throws {
        var generator = SeededGenerator(seed: 8705)
        let original = try authority.device().certificate.der
        let known = try chain.verify([original], now: authority.now)
        var accepted = 0
        for _ in 0..<1500 {
            var bytes = original
            bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            guard let copy = try? chain.verify([bytes], now: authority.now) else { continue }
            accepted += 1
            #expect(copy.thumbprint != known.thumbprint)
            #expect((copy.deviceID, copy.serial) == (known.deviceID, known.serial))
        }
        #expect(accepted < 50)
        #expect(throws: ClientChain.Defect.malformed) { try chain.verify([], now: authority.now) }
        #expect(throws: ClientChain.Defect.malformed) { try chain.verify([original + [0]], now: authority.now) }
        #expect(throws: ClientChain.Defect.malformed) {
            try chain.verify([[UInt8](repeating: 0x30, count: 9000)], now: authority.now)
        }
    }

    @Test("trusts no certificate that is not an authority's")
    func trustedLeaf() throws {
        let leaf = try authority.device().certificate.der
        #expect(throws: AuthorityError.notAnAuthority) { try ClientChain(trusting: [leaf]) }
        #expect(throws: AuthorityError.malformedCertificate) { try ClientChain(trusting: [[1]]) }
    }
}
