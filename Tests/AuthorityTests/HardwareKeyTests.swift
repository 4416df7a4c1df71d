import Authority
import Domain
import Fixtures
import Foundation
import Testing

/// Keys in SoftHSM, in a process of their own: a process has one PKCS#11 module and one environment, and changing that
/// one while other tests read it would be a race.
@Suite("A key in a hardware module")
struct HardwareKeyTests {
    private static let module = "/usr/lib/softhsm/libsofthsm2.so"
    private static let pin = "471108"

    /// Makes a token with a key of each kind.
    private static func makeToken(in scratch: ScratchDirectory) async throws {
        let tokens = scratch.file("tokens")
        try FileManager.default.createDirectory(atPath: tokens, withIntermediateDirectories: false)
        let configuration = try scratch.write("directories.tokendir = \(tokens)\nlog.level = ERROR\n", "softhsm2.conf")
        let environment = ["SOFTHSM2_CONF": configuration]
        try await expectSuccess(
            "softhsm2-util",
            ["--init-token", "--free", "--label", "countersign", "--pin", pin, "--so-pin", "815815"],
            environment: environment)
        for (label, type, id) in [
            ("p256", "EC:prime256v1", "01"), ("p384", "EC:secp384r1", "02"), ("rsa", "RSA:2048", "03"),
        ] {
            try await expectSuccess(
                "pkcs11-tool",
                [
                    "--module", module, "--token-label", "countersign", "--login", "--pin", pin, "--keypairgen",
                    "--key-type", type, "--label", label, "--id", id, "--usage-sign",
                ], environment: environment)
        }
        // The module is loaded into this process and reads its configuration's place from the environment.
        setenv("SOFTHSM2_CONF", configuration, 1)
    }

    private static func uri(_ label: String, _ query: String = "") -> String {
        "pkcs11:token=countersign;object=\(label);type=private?module-path=\(module)\(query)"
    }

    @Test("signs certificates and revocation lists that openssl verifies, from several threads, and asks for its PIN")
    func issuing() async throws {
        await #expect(processExitsWith: .success) { try await HardwareKeyTests.issue() }
    }

    private static func issue() async throws {
        let scratch = try ScratchDirectory()
        try await makeToken(in: scratch)
        let pinFile = try scratch.write(pin + "\n", "pin")

        // Without a PIN nothing is asked on the terminal, and neither error shows one.
        for query in ["", "&pin-value=000000"] {
            let error = #expect(throws: AuthorityError.self) { try SigningKey(pkcs11: uri("p256", query)) }
            guard case .module? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(error?.description.contains("000000") == false)
        }
        let error = #expect(throws: AuthorityError.self) {
            try SigningKey(pkcs11: uri("absent"), pin: Secret(pin))
        }
        #expect(error?.description.contains(pin) == false)

        for label in ["p256", "p384", "rsa"] {
            let key = try SigningKey(pkcs11: uri(label, "&pin-source=file:\(pinFile)"))
            try await verify(key, scratch)
        }
        try await verify(try SigningKey(pkcs11: uri("p256", "&pin-value=\(pin)")), scratch)
        let key = try SigningKey(pkcs11: uri("p256"), pin: Secret(pin))
        let software = try TestAuthority()
        #expect(throws: AuthorityError.keyMismatch) {
            try CertificateAuthority(certificatePEM: software.certificatePEM, signingKey: key)
        }
    }

    private static func verify(_ key: SigningKey, _ scratch: ScratchDirectory) async throws {
        let now = TestAuthority.referenceTime
        let authority = try CertificateAuthority.createRoot(
            commonName: "Hardware CA", signingKey: key, serial: TestAuthority.serial(), now: now)
        let list = try authority.issueRevocationList([], number: 1, thisUpdate: now, nextUpdate: now + 60)
        let chain = try ClientChain(trusting: authority.chain)
        let leaves = try await withThrowingTaskGroup(of: IssuedCertificate.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    let request = try CertificationRequest.parse(
                        pkcs10: TestAuthority.certificationRequest(commonName: "x"))
                    return try authority.issue(
                        request.publicKey, deviceID: DeviceID(UUID()), serial: TestAuthority.serial(), now: now,
                        validity: 3600, revocationListURL: TestAuthority.revocationListURL,
                        policyOID: TestAuthority.policyOID)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(leaves.count == 16)
        for leaf in leaves {
            #expect(throws: Never.self) { try chain.verify([leaf.der], now: now) }
        }
        try await expectSuccess(
            "openssl",
            [
                "verify", "-x509_strict", "-crl_check", "-purpose", "sslclient", "-attime", seconds(now), "-CAfile",
                try scratch.write(authority.chainPEM.joined(), "ca.pem"), "-CRLfile",
                try scratch.write(list.pem, "list.pem"), try scratch.write(leaves.first?.pem ?? "", "leaf.pem"),
            ])
    }

    @Test(
        "is named by a URI that RFC 7512 allows",
        arguments: [
            "", "pkcs12:object=x", "pkcs11:", "pkcs11:object=x?pin-value=1&pin-source=/x", "pkcs11:object=x?pin-value",
            "pkcs11:object=x?pin-value=1&pin-value=2", "pkcs11:object=x?pin-source=|cat%20/etc/passwd",
            "pkcs11:object=x?pin-source=relative", "pkcs11:object=x?pin-source=/does/not/exist",
            "pkcs11:object=x;pin-value=1234",
        ])
    func refusedURIs(uri: String) {
        let error = #expect(throws: AuthorityError.self) { try SigningKey(pkcs11: uri) }
        guard case .malformedURI? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
