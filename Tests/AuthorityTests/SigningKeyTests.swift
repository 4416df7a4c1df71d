import Authority
import Domain
import Fixtures
import Foundation
import Testing

@Suite("The authority's key")
struct SigningKeyTests {
    @Test(
        "is read in each form that openssl writes, and signs for the certificate that openssl made of it",
        arguments: [
            ["ecparam", "-name", "prime256v1", "-genkey", "-out"],
            ["ecparam", "-name", "secp384r1", "-genkey", "-out"],
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384", "-out"],
            ["genrsa", "-traditional", "-out"], ["genpkey", "-algorithm", "RSA", "-out"],
        ])
    func forms(arguments: [String]) async throws {
        let scratch = try ScratchDirectory()
        let (keyFile, certificateFile) = (scratch.file("ca.key"), scratch.file("ca.pem"))
        try await expectSuccess("openssl", arguments + [keyFile])
        try await expectSuccess(
            "openssl",
            [
                "req", "-x509", "-new", "-key", keyFile, "-subj", "/CN=Bring your own", "-days", "30", "-out",
                certificateFile, "-addext", "keyUsage=critical,keyCertSign,cRLSign",
            ])
        let authority = try CertificateAuthority(
            certificatePEM: scratch.text("ca.pem"), signingKey: SigningKey(pem: scratch.text("ca.key")))
        let now = Date()
        let key = try CertificationRequest.parse(pkcs10: TestAuthority.certificationRequest(commonName: "x")).publicKey
        let leaf = try authority.issue(
            key, deviceID: DeviceID(UUID()), serial: TestAuthority.serial(), now: now, validity: 3600,
            revocationListURL: TestAuthority.revocationListURL, policyOID: TestAuthority.policyOID)
        let list = try authority.issueRevocationList([], number: 1, thisUpdate: now, nextUpdate: now + 60)
        try await expectSuccess(
            "openssl",
            [
                "verify", "-crl_check", "-CAfile", certificateFile, "-CRLfile", try scratch.write(list.pem, "list.pem"),
                try scratch.write(leaf.pem, "leaf.pem"),
            ])
        #expect(throws: Never.self) { try ClientChain(trusting: authority.chain).verify([leaf.der], now: now) }
    }

    @Test("of another kind or size is unsupported, and what is no key malformed")
    func refusedKeys() async throws {
        let unsupported = [["-algorithm", "ED25519"], ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-521"]]
        for options in unsupported {
            let pem = try await expectSuccess("openssl", ["genpkey"] + options).output
            #expect(throws: AuthorityError.unsupportedKey) { try SigningKey(pem: pem) }
        }
        let certificate = try TestAuthority().certificatePEM
        for pem in ["", "x", certificate, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"] {
            #expect(throws: AuthorityError.malformedKey) { try SigningKey(pem: pem) }
        }
    }

    @Test("must belong to the authority's certificate, which must be an authority's")
    func mismatch() throws {
        let (one, two) = (try TestAuthority(), try TestAuthority())
        #expect(throws: AuthorityError.keyMismatch) {
            try CertificateAuthority(certificatePEM: one.certificatePEM, signingKey: SigningKey(pem: two.keyPEM))
        }
        #expect(try KeyMatch.matches(certificatePEM: one.certificatePEM, privateKeyPEM: one.keyPEM))
        #expect(try !KeyMatch.matches(certificatePEM: one.certificatePEM, privateKeyPEM: two.keyPEM))
        let device = try one.device()
        #expect(throws: AuthorityError.notAnAuthority) {
            try CertificateAuthority(certificatePEM: device.certificate.pem, signingKey: SigningKey(pem: device.keyPEM))
        }
        #expect(throws: AuthorityError.malformedCertificate) {
            try CertificateAuthority(certificatePEM: one.keyPEM, signingKey: SigningKey(pem: one.keyPEM))
        }
    }

    @Test("is read again from the file that was written for it")
    func roundTrip() throws {
        let authority = try TestAuthority()
        let again = try CertificateAuthority(
            certificatePEM: authority.certificatePEM, signingKey: SigningKey(pem: authority.keyPEM))
        #expect(again.chain == authority.authority.chain)
        #expect(again.notAfter == authority.authority.notAfter)
    }

    @Test("is not shown by its description or its mirror")
    func description() throws {
        let (key, pem) = try SigningKey.generate()
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", dumped, "\(pem)"] {
            #expect(!text.contains("PRIVATE") && text.count < 80)
        }
    }
}
