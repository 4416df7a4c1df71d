import Crypto
import CryptoExtras
import Domain
import Encoding
import Fixtures
import Foundation
import Testing
import Tokens

@Suite("Layer CSR")
struct LayerCSRTests {
    private func refusal(_ reason: Refusal.Reason) -> Refusal {
        Refusal(.invalidCSR, "", reason: reason)
    }

    private func request(_ edit: (inout TokenDraft) -> Void = { _ in }) throws -> LayerCSR {
        try LayerCSR(RegisteredProvider.signer(.rs256).layerCSR(deviceID: "wish", edit: edit))
    }

    @Test("A good request gives the key, the wish and the user agent", arguments: [SignatureAlgorithm.rs256, .es256])
    func good(algorithm: SignatureAlgorithm) throws {
        let signer = try RegisteredProvider.signer(algorithm)
        let wish = UUID().uuidString
        let csr = try LayerCSR(
            signer.layerCSR(deviceID: wish, userAgent: "App/1 (iOS 9)") {
                $0[header: "cty"] = .string("layer-csr; v=1")
                $0[claim: "extra"] = .bool(true)
            })
        #expect(csr.wishedDeviceID == wish)
        #expect(csr.userAgent == "App/1 (iOS 9)")
        #expect(csr.publicKey.subjectPublicKeyInfo == (try signer.verificationKey.subjectPublicKeyInfo))
    }

    @Test("The key may stand in either base64 alphabet; wish and user agent may be missing")
    func forms() throws {
        let key = try RegisteredProvider.signer(.rs256).verificationKey.subjectPublicKeyInfo
        let csr = try request {
            $0[claim: "pky"] = .string(Base64URL.encode(key))
            $0[claim: "prn"] = nil
            $0[claim: "uat"] = nil
        }
        #expect(csr.publicKey.subjectPublicKeyInfo == key)
        #expect(csr.wishedDeviceID == nil)
        #expect(csr.userAgent == nil)
        #expect(try request { $0[claim: "prn"] = .integer(5) }.wishedDeviceID == nil)
    }

    @Test("What is not of the form is malformed")
    func malformed() throws {
        let edits: [(inout TokenDraft) -> Void] = [
            { $0[header: "typ"] = nil }, { $0[header: "typ"] = .string("CSR") }, { $0[header: "cty"] = nil },
            { $0[header: "cty"] = .string("layer-eit;v=1") }, { $0[header: "alg"] = .string("none") },
            { $0[header: "alg"] = .string("PS256") }, { $0[header: "alg"] = .string("ES256") },
            { $0[header: "jwk"] = .object([]) }, { $0[claim: "pka"] = nil }, { $0[claim: "pka"] = .string("EC") },
            { $0[claim: "pky"] = nil }, { $0[claim: "pky"] = .integer(1) }, { $0[claim: "pky"] = .string("!!!!") },
            { $0[claim: "pky"] = .string("AAAA") }, { $0[claim: "uat"] = .integer(1) },
            { $0[claim: "uat"] = .string(String(repeating: "u", count: 513)) },
            { $0[claim: "uat"] = .string("a\u{1B}[2J") },
        ]
        for edit in edits { #expect(throws: refusal(.malformed)) { try request(edit) } }
        #expect(throws: refusal(.malformed)) { try LayerCSR("not a request") }
    }

    @Test("A request that the carried key did not sign has a bad proof")
    func badProof() throws {
        let other = try RegisteredProvider.signer(.ps256).verificationKey.subjectPublicKeyInfo
        #expect(throws: refusal(.badProof)) {
            try request { $0[claim: "pky"] = .string(Data(other).base64EncodedString()) }
        }
        let compact = try RegisteredProvider.signer(.rs256).layerCSR(deviceID: nil)
        #expect(throws: refusal(.badProof)) { try LayerCSR(compact.dropLast(4) + "AAAA") }
    }

    @Test("Weak keys and keys of other types are refused by those words")
    func keys() throws {
        let short = try _RSA.Signing.PrivateKey(unsafeKeySize: _RSA.Signing.KeySize(bitCount: 1024)).publicKey
        #expect(throws: refusal(.weakKey)) {
            try request { $0[claim: "pky"] = .string(short.derRepresentation.base64EncodedString()) }
        }
        for key in [
            P256.Signing.PrivateKey().publicKey.derRepresentation,
            P521.Signing.PrivateKey().publicKey.derRepresentation,
        ] {
            #expect(throws: refusal(.unsupportedKey)) {
                try request { $0[claim: "pky"] = .string(key.base64EncodedString()) }
            }
        }
        let p384 = P384.Signing.PrivateKey().publicKey.derRepresentation.base64EncodedString()
        #expect(throws: refusal(.unsupportedKey)) {
            try LayerCSR(
                RegisteredProvider.signer(.es256).layerCSR(deviceID: nil) { $0[claim: "pky"] = .string(p384) })
        }
    }
}
