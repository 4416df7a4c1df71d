import Crypto
import Domain
import Fixtures
import Foundation
import SwiftASN1
import Testing
import X509

@testable import Authority

@Suite("A certificate")
struct CertificateTests {
    private static func verify(
        _ certificate: IssuedCertificate, by authority: CertificateAuthority, at time: Date, options: [String]
    ) async throws -> Command.Result {
        let scratch = try ScratchDirectory()
        let root = try scratch.write(authority.chainPEM.joined(), "ca.pem")
        let leaf = try scratch.write(certificate.pem, "leaf.pem")
        return try await Command.run(
            "openssl", ["verify", "-x509_strict", "-CAfile", root, "-attime", seconds(time)] + options + [leaf])
    }

    @Test("of a device has the contract's profile, and openssl accepts it for client authentication only")
    func deviceProfile() async throws {
        let authority = try TestAuthority()
        let device = try authority.device()
        let certificate = device.certificate
        let accepted = try await Self.verify(
            certificate, by: authority.authority, at: authority.now, options: ["-purpose", "sslclient"])
        #expect(accepted.status == 0, "\(accepted.errors)")
        let refused = try await Self.verify(
            certificate, by: authority.authority, at: authority.now, options: ["-purpose", "sslserver"])
        #expect(refused.status != 0)

        let parsed = try Certificate(derEncoded: certificate.der)
        #expect(parsed.version == .v3)
        var again = DER.Serializer()
        try again.serialize(parsed)
        #expect(again.serializedBytes == certificate.der)
        #expect(parsed.issuer == authority.authority.certificate.subject)
        #expect(parsed.publicKey == Certificate.PublicKey(device.key.publicKey))
        #expect(
            try parsed.extensions.subjectKeyIdentifier?.keyIdentifier
                == CertificateProfile.subjectKeyIdentifier(of: parsed.publicKey.subjectPublicKeyInfoBytes).keyIdentifier
        )
        #expect(try parsed.subject == DistinguishedName { CommonName(device.deviceID.description) })
        #expect(parsed.extensions.filter(\.critical).map(\.oid) == [[2, 5, 29, 15], [2, 5, 29, 19]])
        #expect(
            Set(parsed.extensions.map(\.oid)) == [
                [2, 5, 29, 14], [2, 5, 29, 15], [2, 5, 29, 19], [2, 5, 29, 31], [2, 5, 29, 32], [2, 5, 29, 35],
                [2, 5, 29, 37],
            ])
        #expect(try parsed.extensions.keyUsage == KeyUsage(digitalSignature: true))
        #expect(try parsed.extensions.extendedKeyUsage == ExtendedKeyUsage([.clientAuth]))
        #expect(try parsed.extensions.basicConstraints == .notCertificateAuthority)
        #expect(certificate.notBefore == authority.now - 300)
        #expect(certificate.notAfter == authority.now + 365 * 86_400)

        let text = try await Command.run("openssl", ["x509", "-noout", "-text"], input: Data(certificate.pem.utf8))
        #expect(text.output.contains("URI:" + TestAuthority.revocationListURL))
        #expect(text.output.contains("Policy: " + TestAuthority.policyOID))
    }

    @Test("reports what openssl reads from it")
    func reports() async throws {
        let certificate = try TestAuthority().device().certificate
        let openssl = try await Command.run(
            "openssl", ["x509", "-noout", "-serial", "-fingerprint", "-sha256"], input: Data(certificate.pem.utf8))
        let serial = certificate.serial.drop { $0 == "0" }
        let thumbprint = certificate.thumbprint.map { String(format: "%02X", $0) }.joined(separator: ":")
        #expect(openssl.output.uppercased().contains(serial.uppercased() + "\n"))
        #expect(openssl.output.contains("=" + thumbprint))
    }

    @Test(
        "has a positive serial number of 128 bits, whatever their first ones are",
        arguments: [
            [UInt8](repeating: 0xFF, count: 16), [0x80] + [UInt8](repeating: 0, count: 15),
            [UInt8](repeating: 0, count: 15) + [1], [0x00, 0x80] + [UInt8](repeating: 7, count: 14),
        ])
    func serials(serial: [UInt8]) async throws {
        let authority = try TestAuthority()
        let key = try CertificationRequest.parse(pkcs10: TestAuthority.certificationRequest(commonName: "x")).publicKey
        let certificate = try authority.certify(key, serial: serial)
        #expect(certificate.serial == serial.map { String(format: "%02x", $0) }.joined())
        let openssl = try await Command.run(
            "openssl", ["x509", "-noout", "-serial"], input: Data(certificate.pem.utf8))
        let number = openssl.output.dropFirst("serial=".count).dropLast()
        #expect(number.drop { $0 == "0" }.lowercased() == certificate.serial.drop { $0 == "0" })
        let verified = try ClientChain(trusting: authority.authority.chain).verify(
            [certificate.der], now: authority.now)
        #expect(verified.serial == certificate.serial)
        #expect(IssuedCertificate.canonicalSerial(String(number)) == certificate.serial)
        #expect(IssuedCertificate.canonicalSerial("00:" + number) == certificate.serial)
        #expect(IssuedCertificate.canonicalSerial("x") == nil)
    }

    @Test(
        "is not issued with a serial number of zero or of another length",
        arguments: [
            [UInt8](repeating: 0, count: 16), [1], [UInt8](repeating: 1, count: 17), [],
        ])
    func refusedSerials(serial: [UInt8]) throws {
        let authority = try TestAuthority()
        let key = try CertificationRequest.parse(pkcs10: TestAuthority.certificationRequest(commonName: "x")).publicKey
        #expect(throws: AuthorityError.invalidSerial) { try authority.certify(key, serial: serial) }
    }

    @Test("never outlives its authority, and none is issued after the authority's end")
    func authorityLife() throws {
        let authority = try TestAuthority()
        let end = authority.authority.notAfter
        #expect(end == authority.now + TimeInterval(CertificateAuthority.rootValidity))
        #expect(try authority.device(now: end - 3600).certificate.notAfter == end)
        #expect(throws: AuthorityError.authorityExpired) { try authority.device(now: end) }
        #expect(throws: AuthorityError.authorityExpired) { try authority.device(now: authority.now - 301) }
        #expect(try authority.device(now: authority.now - 299).certificate.notBefore == authority.now - 300)
    }

    @Test("for an RSA key is accepted by openssl too")
    func rsaLeaf() async throws {
        let scratch = try ScratchDirectory()
        try await expectSuccess(
            "openssl",
            [
                "req", "-new", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x", "-keyout", scratch.file("key.pem"),
                "-out",
                scratch.file("csr.pem"),
            ])
        let authority = try TestAuthority()
        let key = try CertificationRequest.parse(pkcs10: scratch.text("csr.pem")).publicKey
        let certificate = try authority.certify(key)
        let verdict = try await Self.verify(
            certificate, by: authority.authority, at: authority.now, options: ["-purpose", "sslclient"])
        #expect(verdict.status == 0, "\(verdict.errors)")
        #expect(try KeyMatch.matches(certificatePEM: certificate.pem, privateKeyPEM: scratch.text("key.pem")))
    }

    @Test("of the server names its hosts, and openssl accepts it for each of them and no other")
    func serverProfile() async throws {
        let authority = try TestAuthority()
        let (key, pem) = try SigningKey.generate()
        let certificate = try authority.authority.issueServerCertificate(
            key, hosts: ["countersign.example.com", "*.example.net", "127.0.0.1", "::1", "localhost"],
            serial: TestAuthority.serial(), now: authority.now, validity: 90 * 86_400)
        let accepted = [
            ["-verify_hostname", "countersign.example.com"], ["-verify_hostname", "node.example.net"],
            ["-verify_ip", "127.0.0.1"], ["-verify_ip", "::1"], ["-verify_hostname", "localhost"],
        ]
        for name in accepted {
            let verdict = try await Self.verify(
                certificate, by: authority.authority, at: authority.now, options: ["-purpose", "sslserver"] + name)
            #expect(verdict.status == 0, "\(name) \(verdict.errors)")
        }
        for name in [["-verify_hostname", "example.org"], ["-verify_ip", "127.0.0.2"], ["-purpose", "sslclient"]] {
            let verdict = try await Self.verify(
                certificate, by: authority.authority, at: authority.now, options: name)
            #expect(verdict.status != 0, "\(name)")
        }
        #expect(try KeyMatch.matches(certificatePEM: certificate.pem, privateKeyPEM: pem.reveal()))
    }

    @Test(
        "of the server is not issued for what is no host",
        arguments: [
            "", "a b", "-a.example", "a..b", "1.2.3", "1.2.3.4.5", "*", "ex*mple.com", "ö.example",
            String(repeating: "a", count: 64) + ".example", "host:443", "http://host",
        ])
    func refusedHosts(host: String) throws {
        let authority = try TestAuthority()
        let key = try SigningKey.generate().key
        #expect(throws: AuthorityError.invalidName(host)) {
            try authority.authority.issueServerCertificate(
                key, hosts: [host], serial: TestAuthority.serial(), now: authority.now, validity: 86_400)
        }
    }
}
