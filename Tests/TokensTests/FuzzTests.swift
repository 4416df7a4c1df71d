import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Tokens

@Suite("Readers under random input")
struct FuzzTests {
    /// What a reader takes, it must have understood in the one way in which it can be written.
    private func expectSameText(_ token: UnverifiedToken, _ text: String) {
        let written = String(decoding: token.signingInput, as: UTF8.self) + "." + Base64URL.encode(token.signature)
        #expect(written.utf8.elementsEqual(text.utf8))
        let parts = token.signingInput.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        for part in parts {
            let again = Base64URL.decode(part).map { Base64URL.encode($0) }
            #expect(again.map { $0.utf8.elementsEqual(part) } == true)
        }
    }

    @Test("The JWS reader refuses or reads exactly what is written, whatever it is given", arguments: 1...8)
    func tokens(seed: UInt64) throws {
        let bench = try RegisteredProvider(.es256)
        let good = try bench.token()
        var mutation = Mutation(seed: seed)
        var read = 0
        for _ in 0..<Soak.count(500, soak: 1500) {
            let text = mutation.bend(good)
            do throws(Refusal) {
                expectSameText(try UnverifiedToken(text), text)
                read += 1
            } catch {
                #expect(error.code == .invalidIdentityToken)
                #expect(error.reason == .malformed || error.reason == .unsupportedHeader)
            }
            #expect(throws: Refusal.self) { try bench.verify(text) }
        }
        #expect(read > 0)
    }

    @Test("Headers and payloads of random JSON are judged without a crash", arguments: 1...4)
    func claims(seed: UInt64) throws {
        let bench = try RegisteredProvider(.edDSA)
        var mutation = Mutation(seed: seed)
        for _ in 0..<Soak.count(100, soak: 300) {
            let draft = try JSONText(of: bench.token())
            let (header, payload) = (mutation.bend(draft.header), mutation.bend(draft.payload))
            let compact = try bench.signer.sign(
                headerText: Bool.random(using: &mutation.random) ? header : draft.header, payloadText: payload)
            let report = bench.verifier.check(
                compact, provider: bench.provider, keys: [bench.key], now: RegisteredProvider.now)
            let accepted = (try? bench.verify(compact)) != nil
            #expect(accepted == report.defects.isEmpty)
        }
    }

    @Test("The Layer CSR reader refuses or reads, whatever it is given", arguments: 1...4)
    func requests(seed: UInt64) throws {
        let signer = try RegisteredProvider.signer(.es256)
        let good = try signer.layerCSR(deviceID: UUID().uuidString)
        let draft = try JSONText(of: good)
        var mutation = Mutation(seed: seed)
        for round in 0..<Soak.count(150, soak: 400) {
            let text =
                round % 2 == 0
                ? mutation.bend(good)
                : try signer.sign(headerText: draft.header, payloadText: mutation.bend(draft.payload))
            do throws(Refusal) {
                let csr = try LayerCSR(text)
                #expect(csr.publicKey.subjectPublicKeyInfo == (try? signer.verificationKey.subjectPublicKeyInfo))
            } catch {
                #expect(error.code == .invalidCSR)
            }
        }
    }

    @Test("The key reader refuses or reads, whatever it is given", arguments: SignatureAlgorithm.allCases)
    func keys(algorithm: SignatureAlgorithm) throws {
        let key = try RegisteredProvider.signer(algorithm).verificationKey
        var random = SplitMix64(seed: 7)
        for _ in 0..<400 {
            var bytes = key.subjectPublicKeyInfo
            let place = Int.random(in: 0..<min(bytes.count, 40), using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: place)
            default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
            }
            do throws(Refusal) {
                #expect(try VerificationKey(subjectPublicKeyInfo: bytes).subjectPublicKeyInfo == bytes)
            } catch {
                #expect(error.code == .invalidProviderKey)
            }
        }
    }
}

/// The JSON texts inside a compact JWS.
private struct JSONText {
    let header: String
    let payload: String

    init(of compact: String) throws {
        let parts = compact.split(separator: ".")
        header = String(decoding: try #require(Base64URL.decode(String(parts[0]))), as: UTF8.self)
        payload = String(decoding: try #require(Base64URL.decode(String(parts[1]))), as: UTF8.self)
    }
}
