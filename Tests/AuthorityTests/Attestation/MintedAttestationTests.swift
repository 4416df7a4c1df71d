import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Authority

/// What another program writes, by its own reading of the formats.
private struct Minted: Decodable {
    let appleRoot: Data
    let googleRoot: Data
    let objects: [Object]
    let chains: [Chain]

    struct Object: Decodable {
        let challenge: String
        let keyId: Data
        let object: Data
        let assertion: Data
        let counter: UInt32
    }

    struct Chain: Decodable {
        let challenge: String
        let key: Data
        let strongbox: Bool
        let chain: [Data]
    }

    init(_ number: Int) async throws {
        let signer = AndroidKeyMint.signer.bytes.map {
            String(($0 as UInt8) >> 4, radix: 16) + String($0 & 15, radix: 16)
        }
        let result = try await Command.run(
            try Command.python("python"),
            [
                RunningService.root.appending(path: "Tests/Interop/Attestation/mint.py").path, "\(number)",
                AppAttestMint.app, AndroidKeyMint.package, signer.joined(),
            ], seconds: 300)
        try #require(result.status == 0, "\(result.errors)")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        self = try decoder.decode(Self.self, from: Data(result.output.utf8))
    }
}

@Suite("Attestations that Python minted")
struct MintedAttestationTests {
    @Test("are accepted, and each only for its own challenge")
    func accepted() async throws {
        let minted = try await Minted(Soak.count(20, soak: 1_000))
        let verifier = try AttestationVerifier(apple: [Array(minted.appleRoot)], google: [Array(minted.googleRoot)])
        let apps = [
            try #require(AttestedApp(apple: AppAttestMint.app)),
            try #require(AttestedApp(package: AndroidKeyMint.package, certificate: AndroidKeyMint.signer)),
        ]
        let now = Date()
        let other = AttestationVerifier.digest(challenge: "other", subject: "subject")
        for object in minted.objects {
            let digest = AttestationVerifier.digest(challenge: object.challenge, subject: "subject")
            let keyID = try #require(Digest256(object.keyId))
            let found = try verifier.verifyAppAttest(
                Array(object.object), keyID: keyID, digest: digest, apps: apps, allowsDevelopment: false, now: now)
            #expect(throws: AttestationDefect.appleNonce) {
                try verifier.verifyAppAttest(
                    Array(object.object), keyID: keyID, digest: other, apps: apps, allowsDevelopment: false, now: now)
            }
            guard case .appAttest(let key, let app, true) = found else {
                Issue.record("\(found)")
                continue
            }
            let counter = try AttestationVerifier.verifyAssertion(
                Array(object.assertion), digest: digest, key: key, app: app, counter: 0)
            #expect(counter == object.counter)
        }
        for chain in minted.chains {
            let digest = AttestationVerifier.digest(challenge: chain.challenge, subject: "subject")
            let key = try DevicePublicKey(subjectPublicKeyInfo: Array(chain.key))
            let certificates = chain.chain.map { Array($0) }
            let found = try verifier.verifyAndroidKey(
                certificates, key: key, digest: digest, apps: apps, demands: ([.tee, .strongBox], 202_603), now: now)
            #expect(found.level == (chain.strongbox ? .strongBox : .tee))
            #expect(throws: AttestationDefect.androidChallenge) {
                try verifier.verifyAndroidKey(
                    certificates, key: key, digest: other, apps: apps, demands: ([.tee, .strongBox], 0), now: now)
            }
        }
        #expect(minted.objects.count == minted.chains.count && !minted.chains.isEmpty)
    }
}
