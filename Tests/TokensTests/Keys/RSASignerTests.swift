import Crypto
import CryptoExtras
import Fixtures
import Foundation
import Testing

@testable import Tokens

@Suite("Signatures by RSA")
struct RSASignerTests {
    @Test("are those of another library, byte for byte, from several tasks at once", arguments: [2048, 3072, 4096])
    func same(bits: Int) async throws {
        let key = try _RSA.Signing.PrivateKey(keySize: .init(bitCount: bits))
        let signer = try #require(RSASigner(key))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    var random = SeededRandom(seed: UInt64(task))
                    for length in [0, 1, 55, 56, 64, 400, 5000] {
                        let message = (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &random) }
                        let other = try key.signature(for: SHA256.hash(data: message), padding: .insecurePKCS1v1_5)
                        #expect(try signer.signature(over: message) == Array(other.rawRepresentation))
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
