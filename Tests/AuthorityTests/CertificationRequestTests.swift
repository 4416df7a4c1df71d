import Authority
import Crypto
import Domain
import Fixtures
import Foundation
import SwiftASN1
import Testing

@Suite("A PKCS#10 request")
struct CertificationRequestTests {
    private static let deviceID = "3F2504E0-4F89-41D3-9A0C-0305E82C3301"

    /// Makes a key with `openssl genpkey` and a request with `openssl req`.
    private static func request(
        key: [String], subject: String = "/CN=\(deviceID)", options: [String] = [], conversion: [String]? = nil
    ) async throws -> String {
        let scratch = try ScratchDirectory()
        try await expectSuccess("openssl", ["genpkey", "-out", scratch.file("made.key")] + key)
        if let conversion {
            try await expectSuccess(
                "openssl", ["ec", "-in", scratch.file("made.key"), "-out", scratch.file("key.pem")] + conversion)
        } else {
            try scratch.write(try scratch.text("made.key"), "key.pem")
        }
        try await expectSuccess(
            "openssl",
            ["req", "-new", "-key", scratch.file("key.pem"), "-subj", subject, "-out", scratch.file("csr.pem")]
                + options)
        return try scratch.text("csr.pem")
    }

    private static func curve(_ name: String) -> [String] {
        ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:\(name)"]
    }

    private static func rsa(_ bits: Int, exponent: Int = 65_537) -> [String] {
        [
            "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:\(bits)", "-pkeyopt", "rsa_keygen_pubexp:\(exponent)",
        ]
    }

    @Test(
        "made by openssl with an accepted key is read",
        arguments: [
            curve("P-256"), curve("P-384"), rsa(2048), rsa(3072),
        ])
    func acceptedKeys(key: [String]) async throws {
        for digest in ["-sha256", "-sha512"] {
            let pem = try await Self.request(key: key, options: [digest])
            let request = try CertificationRequest.parse(pkcs10: pem)
            #expect(request.wishedDeviceID == DeviceID(Self.deviceID))
            let key = request.publicKey
            #expect(key.keyHash == Array(SHA256.hash(data: key.subjectPublicKeyInfo)))
            let openssl = try await Command.run("openssl", ["req", "-noout", "-pubkey"], input: Data(pem.utf8))
            #expect(try PEMDocument(pemString: openssl.output).derBytes == key.subjectPublicKeyInfo)
        }
    }

    @Test(
        "with a weak or foreign key is refused with the contract's reason",
        arguments: [
            (rsa(1024), "weak_key"), (rsa(2048, exponent: 3), "weak_key"), (curve("P-521"), "unsupported_key"),
            (curve("secp256k1"), "unsupported_key"), (["-algorithm", "ED25519"], "unsupported_key"),
            (curve("P-256") + ["-pkeyopt", "ec_param_enc:explicit"], "unsupported_key"),
        ])
    func refusedKeys(key: [String], reason: String) async throws {
        let pem = try await Self.request(key: key)
        #expect(throws: Refusal(.invalidCSR, "", reason: Refusal.Reason(rawValue: reason))) {
            try CertificationRequest.parse(pkcs10: pem)
        }
    }

    @Test("is read as its base64 alone too, in lines or not, and a text that is neither is malformed")
    func bareBase64() throws {
        let pem = try TestAuthority.certificationRequest(commonName: Self.deviceID)
        let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        for separator in ["\n", "\r\n", ""] {
            let request = try CertificationRequest.parse(pkcs10: lines.joined(separator: separator))
            #expect(request.wishedDeviceID == DeviceID(Self.deviceID))
        }
        for text in ["", "a request", "MIIB", String(lines.joined().dropLast(8))] {
            #expect(throws: Refusal(.invalidCSR, "", reason: .malformed)) {
                try CertificationRequest.parse(pkcs10: text)
            }
        }
    }

    @Test("that was encoded twice is refused with a sentence that says so, a Layer CSR too")
    func encodedTwice() throws {
        let pem = try TestAuthority.certificationRequest(commonName: Self.deviceID)
        for text in [pem, "eyJ0eXAiOiJKV1MifQ.eyJwa2EiOiJFQyJ9.c2lnbmF0dXJl"] {
            let refusal = #expect(throws: Refusal(.invalidCSR, "", reason: .malformed)) {
                try CertificationRequest.parse(pkcs10: Data(text.utf8).base64EncodedString())
            }
            #expect(refusal?.detail.contains("PEM") == true, "\(refusal?.detail ?? "")")
        }
    }

    @Test("with a compressed point is refused as unsupported")
    func compressedPoint() async throws {
        let pem = try await Self.request(key: Self.curve("P-256"), conversion: ["-conv_form", "compressed"])
        #expect(throws: Refusal(.invalidCSR, "", reason: .unsupportedKey)) {
            try CertificationRequest.parse(pkcs10: pem)
        }
    }

    @Test(
        "proved by SHA-1 or by RSASSA-PSS is refused as badly proved",
        arguments: [
            ["-sha1"], ["-sha256", "-sigopt", "rsa_padding_mode:pss"],
        ])
    func refusedProofs(options: [String]) async throws {
        let pem = try await Self.request(key: Self.rsa(2048), options: options)
        #expect(throws: Refusal(.invalidCSR, "", reason: .badProof)) { try CertificationRequest.parse(pkcs10: pem) }
    }

    @Test("whose subject or signature was changed is refused as badly proved")
    func tampered() throws {
        let pem = try TestAuthority.certificationRequest(commonName: Self.deviceID)
        var bytes = try PEMDocument(pemString: pem).derBytes
        let name = Array(Self.deviceID.utf8)
        let position = try #require(bytes.indices.first { bytes[$0...].starts(with: name) })
        bytes[position] ^= 1
        #expect(throws: Refusal(.invalidCSR, "", reason: .badProof)) {
            try CertificationRequest.parse(pkcs10: Self.pem(bytes))
        }
        bytes[position] ^= 1
        #expect(throws: Never.self) { try CertificationRequest.parse(pkcs10: Self.pem(bytes)) }
        bytes[bytes.count - 1] ^= 1
        #expect(throws: Refusal(.invalidCSR, "", reason: .badProof)) {
            try CertificationRequest.parse(pkcs10: Self.pem(bytes))
        }
    }

    @Test("that carries another's key is refused as badly proved")
    func anothersKey() throws {
        let key = P256.Signing.PrivateKey()
        let mine = try PEMDocument(pemString: TestAuthority.certificationRequest(commonName: "x", key: key)).derBytes
        let other = P256.Signing.PrivateKey().publicKey.x963Representation
        let position = try #require(
            mine.indices.first { mine[$0...].starts(with: key.publicKey.x963Representation) })
        var bytes = mine
        bytes.replaceSubrange(position..<position + other.count, with: other)
        #expect(throws: Refusal(.invalidCSR, "", reason: .badProof)) {
            try CertificationRequest.parse(pkcs10: Self.pem(bytes))
        }
    }

    @Test(
        "asks for a device id only by a single common name that is a UUID",
        arguments: [
            "/CN=phone", "/O=Somebody", "/CN=\(deviceID)/CN=\(deviceID)", "/CN=\(deviceID)0",
        ])
    func otherSubjects(subject: String) async throws {
        let pem = try await Self.request(key: Self.curve("P-256"), subject: subject)
        #expect(try CertificationRequest.parse(pkcs10: pem).wishedDeviceID == nil)
    }

    @Test("may ask for extensions, which are ignored, and may have lines of any length")
    func ignoredParts() async throws {
        let pem = try await Self.request(
            key: Self.curve("P-256"), subject: "/CN=\(Self.deviceID)/O=Mallory",
            options: ["-addext", "basicConstraints=critical,CA:TRUE", "-addext", "subjectAltName=DNS:bank.example"])
        #expect(try CertificationRequest.parse(pkcs10: pem).wishedDeviceID == DeviceID(Self.deviceID))
        let base64 = Data(try PEMDocument(pemString: pem).derBytes).base64EncodedString()
        let oneLine = "-----BEGIN CERTIFICATE REQUEST-----\r\n\(base64)\r\n-----END CERTIFICATE REQUEST-----"
        #expect(try CertificationRequest.parse(pkcs10: oneLine).wishedDeviceID == DeviceID(Self.deviceID))
    }

    @Test("that is no PEM, the wrong PEM, two PEMs, or too long is malformed")
    func malformedText() throws {
        let pem = try TestAuthority.certificationRequest(commonName: Self.deviceID)
        let texts = [
            "", "hello", pem + pem, pem.replacing("CERTIFICATE REQUEST", with: "CERTIFICATE"),
            pem.replacing("-----END", with: "-----FIN"), pem + String(repeating: " ", count: 16 * 1024),
            Self.pem([0x30, 0x00]), Self.pem([UInt8](repeating: 0x30, count: 4000)),
            Self.pem(try PEMDocument(pemString: pem).derBytes + [0]),
        ]
        for text in texts {
            #expect(throws: Refusal(.invalidCSR, "", reason: .malformed)) {
                try CertificationRequest.parse(pkcs10: text)
            }
        }
    }

    @Test("with a second block of whatever label before or behind it is malformed; text around it is not")
    func secondBlock() throws {
        let pem = try TestAuthority.certificationRequest(commonName: Self.deviceID)
        let blocks = [
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            "-----BEGIN NEW CERTIFICATE REQUEST-----\nAAAA\n-----END NEW CERTIFICATE REQUEST-----\n",
            "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "-----BEGIN X-----\n", "-----END X-----\n",
        ]
        for block in blocks {
            for text in [pem + block, block + pem] {
                #expect(throws: Refusal(.invalidCSR, "", reason: .malformed), "\(block)") {
                    try CertificationRequest.parse(pkcs10: text)
                }
            }
        }
        #expect(
            try CertificationRequest.parse(pkcs10: "Certificate Request:\n" + pem + "made today\n").publicKey.keyHash
                != [])
    }

    @Test(
        "with a private key beside it, or instead of it, is refused by a sentence of its own",
        arguments: ["", "EC ", "RSA "])
    func privateKey(kind: String) throws {
        let pem = try TestAuthority.certificationRequest(commonName: Self.deviceID)
        let block = "-----BEGIN \(kind)PRIVATE KEY-----\nAAAA\n-----END \(kind)PRIVATE KEY-----\n"
        for text in [pem + block, block + pem, block, (block + pem).replacing("\n", with: " ")] {
            let refusal = #expect(throws: Refusal.self) { try CertificationRequest.parse(pkcs10: text) }
            #expect(refusal?.code == .invalidCSR && refusal?.reason == .malformed)
            #expect(refusal?.detail.contains("private key") == true && refusal?.detail.contains("leaked") == true)
            #expect(refusal?.detail.contains("AAAA") == false)
        }
    }

    @Test("mutated at random is read or refused, and never certified with a proof that does not hold")
    func fuzz() throws {
        var generator = SeededGenerator(seed: 20_270_115)
        let original = try PEMDocument(
            pemString: TestAuthority.certificationRequest(commonName: Self.deviceID)
        ).derBytes
        var reasons: Set<String> = []
        for _ in 0..<3000 {
            var bytes = original
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let position = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[position] = UInt8.random(in: .min ... .max, using: &generator)
                case 1: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                case 2: bytes.remove(at: position)
                default: bytes.insert(UInt8.random(in: .min ... .max, using: &generator), at: position)
                }
            }
            guard bytes != original else { continue }
            do {
                _ = try CertificationRequest.parse(pkcs10: Self.pem(bytes))
                // Parts that are not signed may change without harm: the encoding of the signature's algorithm.
                #expect(bytes.prefix(200) == original.prefix(200))
            } catch {
                #expect(error.code == .invalidCSR)
                reasons.insert(error.reason?.rawValue ?? "")
            }
        }
        #expect(reasons == ["malformed", "bad_proof", "unsupported_key"])
    }

    static func pem(_ bytes: [UInt8]) -> String {
        PEMDocument(type: "CERTIFICATE REQUEST", derBytes: bytes).pemString
    }
}
