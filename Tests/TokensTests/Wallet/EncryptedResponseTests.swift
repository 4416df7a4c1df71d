import Crypto
import Domain
import Encoding
import Foundation
import Testing

@testable import Tokens

@Suite("A wallet's encrypted answer")
struct EncryptedResponseTests {
    private static func privateKey(_ number: String) throws -> P256.KeyAgreement.PrivateKey {
        try P256.KeyAgreement.PrivateKey(rawRepresentation: try #require(Base64URL.decode(number)))
    }

    /// Encrypts as a wallet does, with a header of these members after `alg`, `enc`, `kid` and `epk`.
    private static func encrypt(
        _ text: String, for key: ResponseKey, enc: String = "A256GCM", alg: String = "ECDH-ES", kid: String? = nil,
        _ more: [JSONMember] = [], apu: [UInt8] = [], apv: [UInt8] = [], encryptedKey: String = ""
    ) throws -> String {
        let ephemeral = P256.KeyAgreement.PrivateKey()
        let numbers = Array(ephemeral.publicKey.rawRepresentation)
        let members: [JSONMember] = [
            JSONMember(name: "alg", value: .string(alg)), JSONMember(name: "enc", value: .string(enc)),
            JSONMember(name: "kid", value: .string(kid ?? key.id)),
            JSONMember(
                name: "epk",
                value: .object([
                    "kty": .string("EC"), "crv": .string("P-256"), "x": .string(Base64URL.encode(numbers.prefix(32))),
                    "y": .string(Base64URL.encode(numbers.suffix(32))),
                ])),
        ]
        let header = Base64URL.encode(JSONValue.object(members + more).jsonBytes)
        let secret = try ephemeral.sharedSecretFromKeyAgreement(with: key.privateKey.publicKey)
        let symmetric = ConcatKDF.key(
            from: secret, for: ContentEncryption(rawValue: enc) ?? .a128GCM, apu: apu, apv: apv)
        let box = try AES.GCM.seal(Data(text.utf8), using: symmetric, authenticating: Data(header.utf8))
        return [
            header, encryptedKey, Base64URL.encode(Array(box.nonce)), Base64URL.encode(box.ciphertext),
            Base64URL.encode(box.tag),
        ].joined(separator: ".")
    }

    private static func refusal(_ text: String, _ key: ResponseKey) -> PresentationDefect.Reason? {
        do throws(PresentationDefect) { _ = try EncryptedResponse.open(text, with: key) } catch { return error.reason }
        return nil
    }

    private let key = ResponseKey(id: "1", privateKey: P256.KeyAgreement.PrivateKey())

    @Test("has the key that RFC 7518 Appendix C derives, with both parties named")
    func derivation() throws {
        let bob = try Self.privateKey("VEmDZpDXXK8p8N0Cndsxs924q6nS1RXFASRl6BfUqdw")
        let alice = try Self.privateKey("0_NxaRPUMQoAJt50Gz8YiTr8gRTwyEaCumd-MToTmIo")
        let key = ConcatKDF.key(
            from: try bob.sharedSecretFromKeyAgreement(with: alice.publicKey), for: .a128GCM,
            apu: Array("Alice".utf8), apv: Array("Bob".utf8))
        #expect(key.withUnsafeBytes { Base64URL.encode($0) } == "VqqN6vgjbSBcIijNcacQGg")
    }

    @Test("is opened as the example of OpenID4VP")
    func example() throws {
        let key = ResponseKey(
            id: "ac", privateKey: try Self.privateKey("Et-3ce0omz8_TuZ96Df9lp0GAaaDoUnDe6X-CRO7Aww"))
        let text = """
            eyJhbGciOiJFQ0RILUVTIiwiZW5jIjoiQTEyOEdDTSIsImtpZCI6ImFjIiwiZXBrIjp7Imt0eSI6IkVDIiwieCI6Im5ubVZwbTNWM2piaGNh\
            ZlFhUkJrU1ZOSGx3Wkh3dC05ck9wSnVmeVlJdWsiLCJ5IjoicjRmakRxd0p5czlxVU9QLV9iM21SNVNaRy0tQ3dPMm1pYzVWU05UWU45ZyIs\
            ImNydiI6IlAtMjU2In19..uAYcHRUSSn2X0WPX.yVzlGSYG4qbg0bq18JcUiDRw56yVnbKR8E7S7YlEtzT00RqE3Pw5oTpUG3hdLN4taHZ9gC1k\
            wak8JOnJgQ.1wR024_3-qtAlx1oFIUpQQ
            """
        let opened = try EncryptedResponse.open(text, with: key)
        #expect(
            String(decoding: opened, as: UTF8.self)
                == "{\n \"vp_token\": {\"example_credential_id\": [\"eyJhb...YMetA\"]}\n}")
    }

    @Test("is opened with and without the names of the parties, which are part of the key")
    func parties() throws {
        for enc in ["A128GCM", "A256GCM"] {
            #expect(try Self.refusal(Self.encrypt("{}", for: key, enc: enc), key) == nil)
        }
        let named = [JSONMember(name: "apu", value: .string("YQ")), JSONMember(name: "apv", value: .string("Yg"))]
        #expect(try Self.refusal(Self.encrypt("{}", for: key, named, apu: [0x61], apv: [0x62]), key) == nil)
        #expect(try Self.refusal(Self.encrypt("{}", for: key, named), key) == .undecryptable)
        #expect(
            try Self.refusal(Self.encrypt("{}", for: key, Array(named.suffix(1)), apv: [0x62]), key) == nil)
        let wrong = [JSONMember(name: "apu", value: .string("Y="))]
        #expect(try Self.refusal(Self.encrypt("{}", for: key, wrong), key) == .malformed)
    }

    @Test("is refused before anything is computed for another algorithm or key")
    func header() throws {
        #expect(try Self.refusal(Self.encrypt("{}", for: key, alg: "ECDH-ES+A128KW"), key) == .malformed)
        #expect(try Self.refusal(Self.encrypt("{}", for: key, alg: "dir"), key) == .malformed)
        #expect(try Self.refusal(Self.encrypt("{}", for: key, enc: "A192GCM"), key) == .malformed)
        #expect(try Self.refusal(Self.encrypt("{}", for: key, enc: "A128CBC-HS256"), key) == .malformed)
        #expect(try Self.refusal(Self.encrypt("{}", for: key, kid: "2"), key) == .wrongKey)
        for name in ["zip", "crit"] {
            let more = [JSONMember(name: name, value: .string("DEF"))]
            #expect(try Self.refusal(Self.encrypt("{}", for: key, more), key) == .malformed)
        }
        #expect(try Self.refusal(Self.encrypt("{}", for: key, encryptedKey: "YQ"), key) == .malformed)
        let other = ResponseKey(id: "1", privateKey: P256.KeyAgreement.PrivateKey())
        #expect(try Self.refusal(Self.encrypt("{}", for: other), key) == .undecryptable)
        for text in ["", "a.b.c", "....", String(repeating: "a", count: 131_073)] {
            #expect(Self.refusal(text, key) == .malformed)
        }
    }

    @Test("is refused with any character changed")
    func flips() throws {
        let text = Array(try Self.encrypt("{}", for: key).utf8)
        for place in text.indices {
            var changed = text
            changed[place] = changed[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(Self.refusal(String(decoding: changed, as: UTF8.self), key) != nil, "\(place)")
        }
    }

    @Test("of Annex C is bound to the transcript")
    func annexC() throws {
        let transcript = Array("the transcript".utf8)
        var sender = try HPKE.Sender(
            recipientKey: key.privateKey.publicKey,
            ciphersuite: .init(kem: .P256_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_128), info: Data(transcript))
        let content = Array(try sender.seal(Data("answer".utf8)))
        let encapsulated = Array(sender.encapsulatedKey)
        func answer(_ encapsulated: [UInt8], _ content: [UInt8], named name: String = "dcapi") -> String {
            Base64URL.encode(
                CBORValue.array([
                    .text(name), .map(["enc": .bytes(encapsulated[...]), "cipherText": .bytes(content[...])]),
                ]).encoded)
        }
        let text = answer(encapsulated, content)
        #expect(try AnnexCResponse.open(text, with: key, transcript: transcript) == Array("answer".utf8))
        func refusal(_ text: String, _ transcript: [UInt8]) -> PresentationDefect.Reason? {
            do throws(PresentationDefect) {
                _ = try AnnexCResponse.open(text, with: key, transcript: transcript)
            } catch { return error.reason }
            return nil
        }
        #expect(refusal(text, Array("another".utf8)) == .undecryptable)
        #expect(refusal(answer(encapsulated, content.dropLast()), transcript) == .undecryptable)
        #expect(refusal(answer(encapsulated, content, named: "other"), transcript) == .malformed)
        #expect(refusal(answer(Array(encapsulated.dropLast()), content), transcript) == .malformed)
        #expect(refusal("AA", transcript) == .malformed)
    }
}
