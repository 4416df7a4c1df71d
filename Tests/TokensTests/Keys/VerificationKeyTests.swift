import Crypto
import CryptoExtras
import Domain
import Encoding
import Fixtures
import Foundation
import Testing
import Tokens

@Suite("Provider keys")
struct VerificationKeyTests {
    private func refusal(_ reason: Refusal.Reason) -> Refusal {
        Refusal(.invalidProviderKey, "", reason: reason)
    }

    private func jwk(_ text: String) throws -> JSONValue {
        try StrictJSON.parse(text.utf8)
    }

    private func block(_ label: String, _ bytes: [UInt8]) -> String {
        "-----BEGIN \(label)-----\n\(Data(bytes).base64EncodedString())\n-----END \(label)-----\n"
    }

    private func rsa(modulus: [UInt8], exponent: String = "AQAB") throws -> JSONValue {
        try jwk(#"{"kty":"RSA","n":"\#(Base64URL.encode(modulus))","e":"\#(exponent)"}"#)
    }

    @Test("PEM, DER and JWK forms of a key are the same key", arguments: SignatureAlgorithm.allCases)
    func forms(algorithm: SignatureAlgorithm) throws {
        let signer = try RegisteredProvider.signer(algorithm)
        let key = try VerificationKey(pem: signer.publicKeyPEM, algorithm: algorithm)
        #expect(try VerificationKey(subjectPublicKeyInfo: key.subjectPublicKeyInfo, algorithm: algorithm) == key)
        #expect(try VerificationKey(text: "\r\n  comment\r\n" + signer.publicKeyPEM, algorithm: algorithm) == key)
        #expect(key.thumbprint == Array(SHA256.hash(data: key.subjectPublicKeyInfo)))
        let message = Array("message".utf8)
        let signature = try signer.signature(over: message)
        #expect(key.isValid(signature: signature, over: message))
        #expect(!key.isValid(signature: signature, over: message + [0]))
        #expect(!key.isValid(signature: signature.dropLast(), over: message))
        #expect(!key.isValid(signature: signature + [0], over: message))
        #expect(!key.isValid(signature: [], over: message))
    }

    @Test("Without a named algorithm a key gets the usual one of its type")
    func defaults() throws {
        for (algorithm, expected) in [
            (SignatureAlgorithm.rs256, SignatureAlgorithm.rs256), (.ps256, .rs256), (.es256, .es256),
            (.es384, .es384), (.edDSA, .edDSA),
        ] {
            let pem = try RegisteredProvider.signer(algorithm).publicKeyPEM
            #expect(try VerificationKey(pem: pem, algorithm: nil).algorithm == expected)
        }
    }

    @Test("An RSA PUBLIC KEY block is read as the key that it holds")
    func pkcs1() throws {
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048).publicKey
        let older = try VerificationKey(pem: key.pkcs1PEMRepresentation, algorithm: .rs256)
        #expect(older.subjectPublicKeyInfo == Array(key.derRepresentation))
    }

    @Test("A JWK's own alg counts where no algorithm is named")
    func ownAlgorithm() throws {
        let text: String = StandardVectors.rs256Key.dropLast() + #","alg":"PS256","use":"sig"}"#
        #expect(try VerificationKey(jwk: jwk(text), algorithm: nil).algorithm == .ps256)
        #expect(try VerificationKey(text: text, algorithm: .rs256).algorithm == .rs256)
        let foreign: String = StandardVectors.rs256Key.dropLast() + #","alg":"RSA-OAEP"}"#
        #expect(throws: refusal(.unsupportedKey)) { try VerificationKey(jwk: jwk(foreign), algorithm: nil) }
        let encryption: String = StandardVectors.rs256Key.dropLast() + #","use":"enc"}"#
        #expect(throws: refusal(.unsupportedKey)) { try VerificationKey(jwk: jwk(encryption), algorithm: nil) }
    }

    @Test("A JWK whose key_ops are not those of a signature is not supported, and one that is no list is malformed")
    func operations() throws {
        func read(_ operations: String) throws -> VerificationKey {
            try VerificationKey(jwk: jwk(StandardVectors.rs256Key.dropLast() + #","key_ops":\#(operations)}"#))
        }
        for good in [#"["verify"]"#, #"["sign","verify"]"#] { #expect(try read(good).algorithm == .rs256) }
        for foreign in [
            #"["encrypt"]"#, #"["sign"]"#, #"["wrapKey","unwrapKey"]"#, #"["verify","encrypt"]"#, #"["Verify"]"#,
        ] {
            #expect(throws: refusal(.unsupportedKey), "\(foreign)") { try read(foreign) }
        }
        for bent in ["[]", #""verify""#, "null", "{}", #"["verify",1]"#, #"["verify","verify"]"#] {
            #expect(throws: refusal(.malformed), "\(bent)") { try read(bent) }
        }
        let both: String = StandardVectors.es256Key.dropLast() + #","use":"sig","key_ops":["deriveKey"]}"#
        #expect(throws: refusal(.unsupportedKey)) { try VerificationKey(text: both) }
    }

    @Test(
        "A private key pasted by mistake is called leaked",
        arguments: ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "OPENSSH PRIVATE KEY"])
    func privateKeys(label: String) throws {
        #expect(throws: refusal(.privateKey)) { try VerificationKey(pem: block(label, [1, 2, 3]), algorithm: nil) }
        let beside = try RegisteredProvider.signer(.es256).publicKeyPEM + "-----BEGIN \(label)-----\nAQID"
        #expect(throws: refusal(.privateKey)) { try VerificationKey(pem: beside, algorithm: nil) }
    }

    @Test("A private or symmetric JWK is called leaked", arguments: ["d", "p", "k", "oth"])
    func privateJWK(member: String) throws {
        let text: String = StandardVectors.es256Key.dropLast() + #","\#(member)":"AA"}"#
        #expect(throws: refusal(.privateKey)) { try VerificationKey(jwk: jwk(text), algorithm: .es256) }
    }

    @Test("An RSA key of 1024 bits and an even modulus are weak, one beyond 4096 bits is not supported")
    func rsaSizes() throws {
        let short = try _RSA.Signing.PrivateKey(unsafeKeySize: _RSA.Signing.KeySize(bitCount: 1024))
        #expect(throws: refusal(.weakKey)) {
            try VerificationKey(pem: short.publicKey.pemRepresentation, algorithm: .rs256)
        }
        let even = [UInt8](repeating: 0xA4, count: 256)
        #expect(throws: refusal(.weakKey)) { try VerificationKey(jwk: rsa(modulus: even), algorithm: .rs256) }
        let long = [1] + [UInt8](repeating: 0xA5, count: 512)
        #expect(throws: refusal(.unsupportedKey)) { try VerificationKey(jwk: rsa(modulus: long), algorithm: .rs256) }
    }

    @Test("Any public exponent but 65537 is weak", arguments: ["AQ", "Aw", "EQ", "AQAAAQ"])
    func exponents(exponent: String) throws {
        let modulus = [UInt8](repeating: 0xA5, count: 256)
        #expect(throws: refusal(.weakKey)) {
            try VerificationKey(jwk: rsa(modulus: modulus, exponent: exponent), algorithm: .rs256)
        }
    }

    @Test("A key with the ROCA fingerprint is weak")
    func roca() throws {
        // A power of 65537 is one modulo every prime, hence has the fingerprint; 65537^150 has 2401 bits.
        var modulus: [UInt8] = [1]
        for _ in 0..<150 {
            var carry: UInt64 = 0
            for index in modulus.indices.reversed() {
                let product = UInt64(modulus[index]) * 65_537 + carry
                modulus[index] = UInt8(truncatingIfNeeded: product)
                carry = product >> 8
            }
            while carry > 0 {
                modulus.insert(UInt8(truncatingIfNeeded: carry), at: 0)
                carry >>= 8
            }
        }
        #expect(throws: refusal(.weakKey)) { try VerificationKey(jwk: rsa(modulus: modulus), algorithm: .rs256) }
        #expect(ROCA.isFingerprinted(modulus: modulus))
        modulus[modulus.count - 1] += 2
        #expect(!ROCA.isFingerprinted(modulus: modulus))
    }

    @Test("The modulus of an affected chip has the ROCA fingerprint, moduli of random primes have not")
    func rocaVectors() throws {
        var modulus: [UInt8] = []
        var digits = StandardVectors.rocaModulus[...]
        while !digits.isEmpty {
            modulus.append(try #require(UInt8(digits.prefix(2), radix: 16)))
            digits = digits.dropFirst(2)
        }
        #expect(ROCA.isFingerprinted(modulus: modulus))
        #expect(!ROCA.isFingerprinted(modulus: []))
        var random = SplitMix64(seed: 2017)
        for _ in 0..<2000 {
            let bytes = (0..<256).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(!ROCA.isFingerprinted(modulus: bytes))
        }
    }

    @Test("Ed25519 points of small order are weak", arguments: [UInt8(0), 1, 0xEC, 0xED, 0xEE])
    func smallOrder(first: UInt8) throws {
        let filling: UInt8 = first < 2 ? 0 : 0xFF
        for last in first < 2 ? [UInt8(0), 0x80] : [0x7F, 0xFF] {
            let point = [first] + [UInt8](repeating: filling, count: 30) + [last]
            let text = #"{"kty":"OKP","crv":"Ed25519","x":"\#(Base64URL.encode(point))"}"#
            #expect(throws: refusal(.weakKey)) { try VerificationKey(text: text) }
        }
    }

    @Test("Keys of other types, other curves and for other algorithms are not supported")
    func unsupported() throws {
        let p521 = P521.Signing.PrivateKey().publicKey
        #expect(throws: refusal(.unsupportedKey)) { try VerificationKey(pem: p521.pemRepresentation, algorithm: nil) }
        var x25519 = try VerificationKey(pem: RegisteredProvider.signer(.edDSA).publicKeyPEM).subjectPublicKeyInfo
        x25519[8] = 0x6E
        #expect(throws: refusal(.unsupportedKey)) { try VerificationKey(subjectPublicKeyInfo: x25519) }
        var pss = try VerificationKey(pem: RegisteredProvider.signer(.rs256).publicKeyPEM).subjectPublicKeyInfo
        pss[16] = 0x0A
        #expect(throws: refusal(.unsupportedKey)) { try VerificationKey(subjectPublicKeyInfo: pss) }
        for (made, named) in [
            (SignatureAlgorithm.rs256, SignatureAlgorithm.es256), (.es256, .es384), (.es384, .es256), (.edDSA, .rs256),
        ] {
            let pem = try RegisteredProvider.signer(made).publicKeyPEM
            #expect(throws: refusal(.unsupportedKey)) { try VerificationKey(pem: pem, algorithm: named) }
        }
        for text in [#"{"kty":"oct"}"#, #"{"kty":"EC","crv":"secp256k1","x":"AA","y":"AA"}"#] {
            #expect(throws: refusal(.unsupportedKey)) { try VerificationKey(text: text) }
        }
    }

    @Test("What is no public key is malformed")
    func malformed() throws {
        let spki = try VerificationKey(pem: RegisteredProvider.signer(.es256).publicKeyPEM).subjectPublicKeyInfo
        var offCurve = spki
        offCurve[offCurve.count - 1] ^= 1
        let compressed = Array(P256.Signing.PrivateKey().publicKey.compressedRepresentation)
        let compressedInfo = [0x30, 0x39] + Array(spki[2..<23]) + [0x03, 0x22, 0x00] + compressed
        #expect(throws: refusal(.unsupportedKey)) { try VerificationKey(subjectPublicKeyInfo: compressedInfo) }
        for bytes in [[], [0x30], spki + [0], Array(spki.dropLast()), offCurve, [0x30, 0x80, 0, 0]] {
            #expect(throws: refusal(.malformed)) { try VerificationKey(subjectPublicKeyInfo: bytes) }
        }
        for text in [
            "", "hello", "ssh-ed25519 AAAA", block("CERTIFICATE", spki), block("CERTIFICATE REQUEST", spki),
            block("PUBLIC KEY", spki) + block("PUBLIC KEY", spki), block("EC PARAMETERS", spki),
            "-----BEGIN PUBLIC KEY-----\nAAAA", block("PUBLIC KEY", [1]), block("RSA PUBLIC KEY", [1]), "{",
            #"{"kty":"RSA","n":"AAAA","e":"AQAB"}"#, #"{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#, "{}",
            #"{"keys":[]}"#, String(repeating: "A", count: 20_000),
        ] {
            #expect(throws: refusal(.malformed)) { try VerificationKey(text: text) }
        }
        #expect(throws: refusal(.malformed)) { try VerificationKey(jwk: .array([])) }
    }

    @Test("A second encoding of the same key is malformed, so that a key has one thumbprint")
    func oneEncoding() throws {
        let spki = try VerificationKey(pem: RegisteredProvider.signer(.rs256).publicKeyPEM).subjectPublicKeyInfo
        // The same without the NULL parameters: both lengths and the parameters go.
        var bare = spki
        bare.removeSubrange(17..<19)
        bare[5] -= 2
        bare[3] -= 2
        #expect(throws: refusal(.malformed)) { try VerificationKey(subjectPublicKeyInfo: bare) }
    }

    @Test("A stored record is made ready as it was registered")
    func records() throws {
        let bench = try RegisteredProvider(.ps256)
        var record = ProviderKeyRecord(
            id: bench.key.id, providerID: bench.provider.id, algorithm: "PS256",
            subjectPublicKeyInfo: bench.key.verificationKey.subjectPublicKeyInfo, origin: .admin,
            createdAt: RegisteredProvider.now, retiredAt: nil, revokedAt: nil)
        let key = try RegisteredKey(record)
        #expect(key.verificationKey == bench.key.verificationKey)
        #expect(!key.retired)
        record.revokedAt = RegisteredProvider.now
        #expect(try RegisteredKey(record).retired)
    }
}
