import Crypto
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Authority

@Suite("An attestation of App Attest")
struct AppAttestTests {
    private static let digest = AttestationVerifier.digest(challenge: "challenge", subject: "subject")
    private static let apps = [AttestedApp(apple: AppAttestMint.app)].compactMap(\.self)

    /// The defect of an attestation with these faults; `nil` if it is accepted.
    private func defect(
        digest: Digest256 = digest, apps: [AttestedApp] = apps, allowsDevelopment: Bool = false, after: Double = 0,
        keyID: Digest256? = nil, root: [UInt8]? = nil, _ fault: (inout AppAttestMint) -> Void = { _ in },
        changing change: (inout [UInt8]) -> Void = { _ in }
    ) throws -> AttestationDefect? {
        var mint = AppAttestMint()
        fault(&mint)
        let verifier = try AttestationVerifier(apple: [root ?? mint.root()], google: [])
        var object = try mint.object(Self.digest)
        change(&object)
        do throws(AttestationDefect) {
            _ = try verifier.verifyAppAttest(
                object, keyID: keyID ?? mint.keyID, digest: digest, apps: apps, allowsDevelopment: allowsDevelopment,
                now: mint.now + after)
        } catch { return error }
        return nil
    }

    @Test("names the key, the app and the environment")
    func accepted() throws {
        let mint = AppAttestMint()
        let verifier = try AttestationVerifier(apple: [try mint.root()], google: [])
        let found = try verifier.verifyAppAttest(
            mint.object(Self.digest), keyID: mint.keyID, digest: Self.digest, apps: Self.apps,
            allowsDevelopment: false, now: mint.now)
        let key = try PublicKey(subjectPublicKeyInfo: Array(mint.deviceKey.publicKey.derRepresentation))
        #expect(found == .appAttest(key: key, app: try #require(Self.apps.first), isProduction: true))
        #expect(found.level == .appAttest)
    }

    @Test("is of a registered app, never of the one that it names")
    func app() throws {
        #expect(try defect { $0.app = "ABCDE12345.com.example.other" } == .appleApp)
        #expect(try defect(apps: []) == .appleApp)
        let android = try #require(AttestedApp(package: AndroidKeyMint.package, certificate: AndroidKeyMint.signer))
        #expect(try defect(apps: [android]) == .appleApp)
    }

    @Test("leads to a pinned root, with dates that include now")
    func chain() throws {
        #expect(try defect(root: AppAttestMint().root()) == .appleChain)
        #expect(try defect { $0.isIntermediateAuthority = false } == .appleChain)
        #expect(try defect { $0.leafIssuer = "other" } == .appleChain)
        #expect(try defect { $0.intermediateIssuer = "other" } == .appleChain)
        for found in [AttestationCertificate.unknown, AttestationCertificate.nameConstraints] {
            #expect(try defect { $0.leafExtensions = [found] } == .appleChain)
            #expect(try defect { $0.intermediateExtensions = [found] } == .appleChain)
        }
        #expect(try defect { $0.leafUntil = $0.now - 60 } == .appleValidity)
        #expect(try defect { $0.intermediateUntil = $0.now - 60 } == .appleValidity)
        #expect(try defect(after: -2 * 86_400) == .appleValidity)
    }

    @Test("is made for one challenge, which the whole extension contains")
    func challenge() throws {
        let other = AttestationVerifier.digest(challenge: "other", subject: "subject")
        #expect(try defect(digest: other) == .appleNonce)
        // A reader that cuts six bytes off would not see these.
        #expect(try defect { $0.extensionStart[0] = 0x31 } == .appleNonce)
        #expect(try defect { $0.extensionStart[2] = 0xA2 } == .appleNonce)
        #expect(try defect { $0.extensionStart = [] } == .appleNonce)
    }

    @Test("names one key in its certificate, its credential and the request")
    func key() throws {
        #expect(try defect(keyID: Digest256.of("other")) == .keyID)
        #expect(try defect { $0.credentialKey = P256.Signing.PrivateKey() } == .credential)
        #expect(try defect { $0.credentialID = Digest256.of("other").bytes } == .credential)
    }

    @Test("is of the production environment, unless the service is in development mode")
    func environment() throws {
        #expect(try defect { $0.environment = "appattestdevelop" } == .environment)
        #expect(try defect(allowsDevelopment: true) { $0.environment = "appattestdevelop" } == nil)
        #expect(try defect(allowsDevelopment: true) == nil)
        #expect(try defect(allowsDevelopment: true) { $0.environment = "appattestother" } == .credential)
    }

    @Test("is a first one, without flags of a user")
    func counterAndFlags() throws {
        #expect(try defect { $0.counter = 1 } == .counter)
        #expect(try defect { $0.flags = 0x41 } == .flags)
        #expect(try defect { $0.flags = 0x45 } == .flags)
        #expect(try defect { $0.format = "packed" } == .format)
    }

    @Test("is one item of CBOR")
    func form() throws {
        #expect(try defect(changing: { $0.append(0) }) == .object)
        #expect(try defect(changing: { $0.removeLast() }) == .object)
        #expect(try defect(changing: { $0 = [] }) == .object)
        #expect(try defect(changing: { $0 = CBORValue.map(["fmt": .text("apple-appattest")]).encoded }) == .object)
    }

    @Test("is never accepted with a bit changed outside the receipt", arguments: Soak.seeds(2, soak: 100))
    func flips(seed: UInt64) throws {
        let mint = AppAttestMint()
        let verifier = try AttestationVerifier(apple: [try mint.root()], google: [])
        let object = try mint.object(Self.digest)
        // Its name, its length and its bytes: nothing signs them.
        let receipt = try #require(object.firstRange(of: Array("receipt".utf8)))
        let unsigned = (receipt.lowerBound - 1)..<(receipt.upperBound + 3)
        var random = SeededRandom(seed: seed)
        var accepted: [Int] = []
        for _ in 0..<500 {
            var bytes = object
            let place = Int.random(in: bytes.indices, using: &random)
            guard !unsigned.contains(place) else { continue }
            bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            let found = try? verifier.verifyAppAttest(
                bytes, keyID: mint.keyID, digest: Self.digest, apps: Self.apps, allowsDevelopment: false, now: mint.now)
            if found != nil { accepted.append(place) }
        }
        #expect(accepted.isEmpty)
    }

    @Test("is the anchor of assertions with a rising counter, by the same app and key")
    func assertions() throws {
        var mint = AppAttestMint()
        let app = try #require(Self.apps.first)
        let key = try PublicKey(subjectPublicKeyInfo: Array(mint.deviceKey.publicKey.derRepresentation))
        func result(_ bytes: [UInt8], counter: UInt32 = 0, digest: Digest256 = Self.digest) -> AttestationDefect? {
            do throws(AttestationDefect) {
                let next = try AttestationVerifier.verifyAssertion(
                    bytes, digest: digest, key: key, app: app, counter: counter)
                #expect(next > counter)
            } catch { return error }
            return nil
        }
        let assertion = try mint.assertion(Self.digest, counter: 7)
        #expect(result(assertion, counter: 6) == nil)
        #expect(result(assertion, counter: 7) == .assertionCounter)
        #expect(try result(mint.assertion(Self.digest, counter: 0)) == .assertionCounter)
        #expect(try result(mint.assertion(Self.digest, app: "OTHER12345.com.example.app", counter: 1)) == .assertionApp)
        let other = AttestationVerifier.digest(challenge: "other", subject: "subject")
        #expect(result(assertion, digest: other) == .assertionSignature)
        #expect(result(assertion + [0]) == .assertion)
        mint.deviceKey = P256.Signing.PrivateKey()
        #expect(try result(mint.assertion(Self.digest, counter: 7)) == .assertionSignature)
    }
}
