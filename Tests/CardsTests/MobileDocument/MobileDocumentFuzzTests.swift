import Domain
import Encoding
import Fixtures
import Testing

@testable import Cards

@Suite("A mobile document that was tampered with")
struct MobileDocumentFuzzTests {
    @Test("is never accepted with a bit changed outside the certificate", arguments: Soak.seeds(2, soak: 100))
    func flips(seed: UInt64) throws {
        let presenting = try Presenting()
        var random = SeededRandom(seed: seed)
        let response = try DocumentMint(presenting.issuer).response()
        #expect(presenting.refusal(response) == nil)
        // Nothing signs the label and the bytes of the certificate. The chain is verified elsewhere.
        let certificate = try #require(response.firstRange(of: presenting.issuer.certificate))
        let unsigned = (certificate.lowerBound - 5)..<certificate.upperBound
        let signed = response.indices.filter { !unsigned.contains($0) }
        var accepted: [Int] = []
        for _ in 0..<1_000 {
            var bytes = response
            let place = try #require(signed.randomElement(using: &random))
            bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            if presenting.refusal(bytes) == nil { accepted.append(place) }
        }
        #expect(accepted.isEmpty)
    }

    @Test("is read or refused, whatever its bytes", arguments: Soak.seeds(2, soak: 100))
    func mutations(seed: UInt64) throws {
        let presenting = try Presenting()
        var random = SeededRandom(seed: seed)
        let response = try DocumentMint(presenting.issuer).response()
        let rounds = 1_000
        var refused = 0
        for _ in 0..<rounds {
            var bytes = response
            for _ in 0...Int.random(in: 0...3, using: &random) {
                let place = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes.insert(.random(in: 0...255, using: &random), at: place)
                case 1: bytes.remove(at: place)
                default: bytes.replaceSubrange(place..., with: response.suffix(Int.random(in: 0...200, using: &random)))
                }
                if bytes.isEmpty { bytes = response }
            }
            if presenting.refusal(bytes) != nil { refused += 1 }
        }
        // A change of the certificate alone is accepted here.
        #expect(refused > rounds / 2)
    }
}
