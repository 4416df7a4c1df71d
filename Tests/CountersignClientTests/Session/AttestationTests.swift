import Crypto
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import CountersignClient

/// Against a service that certifies attested devices only, with the platform's calls played by mints.
@Suite("A client with an attestor", .serialized)
struct AttestationTests {
    private struct Failed: Error {}

    /// A service that trusts the mints.
    private static func live(_ apple: AppAttestMint, _ android: AndroidKeyMint) async throws -> LiveService {
        let live = try await LiveService(policies: [
            "certification.yaml": "gate: attested\nattestation_status_unknown: admit\n"
        ])
        let roots = live.running.path("Keys/attestation")
        try FileManager.default.createDirectory(at: roots, withIntermediateDirectories: true)
        for (name, root) in [("apple.pem", try apple.root()), ("android.pem", try android.root())] {
            try PEM.encode(root, label: "CERTIFICATE").write(
                to: roots.appending(path: name), atomically: true, encoding: .utf8)
        }
        let listed = try await live.running.countersign(["provider", "app", "list", "devices", "--json"])
        let app: JSONValue?
        if case .array(let apps) = try StrictJSON.parse(Array(listed.output.utf8)) {
            app = apps.first
        } else {
            app = nil
        }
        let id = try #require(app?["app_id"]?.text)
        let digits = AndroidKeyMint.signer.bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
        for words in [
            ["--apple", AppAttestMint.app], ["--android", AndroidKeyMint.package, "--certificate", digits.joined()],
        ] {
            let added = try await live.running.countersign(["provider", "app", "attest", "add", id] + words)
            try #require(added.status == 0, "\(added.errors)")
        }
        live.running.kill()
        try live.running.start()
        return live
    }

    @Test("is certified by App Attest and by the Android key store, and by nothing else")
    func certified() async throws {
        let (apple, android) = (AppAttestMint(now: Date()), AndroidKeyMint(now: Date()))
        let live = try await Self.live(apple, android)
        let phone = try App(live.service())
        do throws(CountersignClient.Refusal) {
            try await phone.client.certify()
            Issue.record("certified without an attestation")
        } catch { #expect(error.problem?.reason == "gate") }
        do throws(CountersignClient.Refusal) {
            try await phone.client.certify(attestedBy: .appAttest { _ in throw Failed() })
            Issue.record("certified without an answer of the platform")
        } catch {
            guard case .unattested = error else { throw error }
        }
        let device = try await phone.client.certify(
            attestedBy: .appAttest { digest in
                let digest = try #require(Digest256(digest))
                return (Data(apple.keyID.bytes).base64EncodedString(), Data(try apple.object(digest)))
            })
        #expect(try await Self.level(of: device, in: live) == "app_attest")

        let other = try App(live.service())
        let keys = FileKeys(directory: URL(filePath: other.directory.file("keys")))
        let second = try await other.client.certify(
            attestedBy: .androidKey { name, challenge in
                let point = try keys.make(name)
                let key = try P256.Signing.PublicKey(x963Representation: point)
                return try android.chain(try #require(Digest256(challenge)), of: key).map { Data($0) }
            })
        #expect(try await Self.level(of: second, in: live) == "android_tee")
    }

    private static func level(of device: Device, in live: LiveService) async throws -> String? {
        let shown = try await live.running.countersign(
            ["device", "show", device.id.uuidString.lowercased(), "--json"])
        return try StrictJSON.parse(Array(shown.output.utf8))["device_attestation"]?.text
    }
}
