import Domain
import Encoding
import Fixtures
import Foundation
import SwiftASN1
import Testing
import Tokens
import X509

@testable import countersign

@Suite("Key files")
struct KeyFilesTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    private static func create(_ directory: String, now: Date = now) throws -> [KeyCreation.Outcome] {
        var creation = KeyCreation(
            directory: directory, hosts: ["localhost", "::1"], now: now,
            randomBytes: { count in (0..<count).map { _ in UInt8.random(in: 1...255) } })
        return try creation.run()
    }

    private static func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("Published keys have a certificate with the same bytes at each start, which holds the key")
    func certificates() throws {
        let keys = try TemporaryDirectory().path + "/Keys"
        _ = try Self.create(keys)
        let (first, second) = try (
            KeyFiles.load(directory: keys, now: Self.now), KeyFiles.load(directory: keys, now: Self.now + 86_400)
        )
        #expect(first.webKeys == second.webKeys && first.webKeys.count == 2)
        for webKey in first.webKeys {
            guard case .array(let chain)? = webKey["x5c"], let text = chain.first?.text,
                let der = Data(base64Encoded: text)
            else { throw Refusal(.notFound, "no x5c") }
            let certificate = try Certificate(derEncoded: Array(der))
            let key = try VerificationKey(jwk: webKey)
            var serializer = DER.Serializer()
            try serializer.serialize(certificate.publicKey)
            #expect(chain.count == 1 && serializer.serializedBytes == key.subjectPublicKeyInfo)
            #expect(webKey["kid"]?.text == key.publicKey.numbers.webKeyThumbprint)
        }
    }

    @Test("A first run makes everything, private files for their owner alone, and it loads")
    func firstRun() throws {
        let parent = try TemporaryDirectory()
        let keys = parent.path + "/Keys"
        let outcomes = try Self.create(keys)
        #expect(outcomes.count == 11)
        #expect(outcomes.filter { !$0.isNew } == [])
        #expect(try Self.mode(keys) == 0o700)
        for outcome in outcomes {
            #expect(try Self.mode(outcome.path) == (outcome.path.hasSuffix(".pem") ? 0o644 : 0o600))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: keys).count == 11)
        let loaded = try KeyFiles.load(directory: keys, now: Self.now)
        #expect(loaded.nonceSecrets.current.reveal().count == 32)
        #expect(loaded.phoneCodes.currentVersion == 1)
        #expect(loaded.server.pin != loaded.server.nextPin)
        #expect(loaded.server.notAfter > Self.now)
    }

    @Test("A second run keeps everything and makes only what is missing")
    func secondRun() throws {
        let parent = try TemporaryDirectory()
        let keys = parent.path + "/Keys"
        _ = try Self.create(keys)
        let before = try KeyFiles.load(directory: keys, now: Self.now)
        try FileManager.default.removeItem(atPath: keys + "/nonce.key")
        let made = try Self.create(keys).filter(\.isNew).map(\.path)
        #expect(made == [keys + "/nonce.key"])
        let after = try KeyFiles.load(directory: keys, now: Self.now)
        #expect(after.server.pin == before.server.pin)
        #expect(after.nonceSecrets.current.reveal() != before.nonceSecrets.current.reveal())
    }

    @Test("The next and former keys of access tokens are published behind the present one, and only RSA keys")
    func accessTokens() throws {
        let parent = try TemporaryDirectory()
        let keys = parent.path + "/Keys"
        _ = try Self.create(keys)
        func published() throws -> [String] {
            try KeyFiles.load(directory: keys, now: Self.now).accessTokens.published.map(\.id)
        }
        let present = try published()
        #expect(present.count == 1)
        let others = URL(filePath: keys + "/access-token-others.pem")
        let other = try ProviderSigner(.rs256).publicKeyPEM
        try (other + "\n" + other + "\n").write(to: others, atomically: true, encoding: .utf8)
        #expect(try published().count == 2 && published().first == present.first)
        try ProviderSigner(.es256).publicKeyPEM.write(to: others, atomically: true, encoding: .utf8)
        #expect(throws: CommandFailure.self) { _ = try published() }
        for rest in ["-----BEGIN RSA PUBLIC KEY-----\n", String(other.dropLast(20))] {
            try (other + "\n" + rest).write(to: others, atomically: true, encoding: .utf8)
            #expect(throws: CommandFailure.self) { _ = try published() }
        }
        try FileManager.default.removeItem(at: others)
        let key = URL(filePath: keys + "/access-token.key")
        try FileManager.default.removeItem(at: key)
        try FileManager.default.copyItem(atPath: keys + "/service.key", toPath: key.path)
        let failure = #expect(throws: CommandFailure.self) { _ = try published() }
        #expect(failure?.sentence.contains("rm \(key.path)") == true)
    }

    @Test("A line more is a new version of the codes' key, and a line that cannot be read is refused")
    func phoneCodes() throws {
        let parent = try TemporaryDirectory()
        let keys = parent.path + "/Keys"
        _ = try Self.create(keys)
        let path = URL(filePath: keys + "/phone-code.key")
        let first = try String(contentsOf: path, encoding: .utf8)
        func load(_ text: String) throws -> Int {
            try FileManager.default.removeItem(at: path)
            try KeyFile(path: path.path, isPrivate: true).create(text)
            return try KeyFiles.load(directory: keys, now: Self.now).phoneCodes.currentVersion
        }
        let secret = Base64URL.encode([UInt8](repeating: 3, count: 32))
        #expect(try load(first + "7 \(secret)\n") == 7)
        for text in ["", "\n", "1\n", "1 AAAA\n", "0 \(secret)\n", "\(first)1 \(secret)\n", "one \(secret)\n"] {
            #expect(throws: CommandFailure.self) { try load(text) }
        }
    }

    @Test("The next server key becomes the present one")
    func rotation() throws {
        let parent = try TemporaryDirectory()
        let keys = parent.path + "/Keys"
        _ = try Self.create(keys)
        let before = try KeyFiles.load(directory: keys, now: Self.now)
        try FileManager.default.removeItem(atPath: keys + "/server.key")
        try FileManager.default.moveItem(atPath: keys + "/server-next.key", toPath: keys + "/server.key")
        #expect(throws: CommandFailure.self) { try KeyFiles.load(directory: keys, now: Self.now) }
        try FileManager.default.removeItem(atPath: keys + "/server.pem")
        _ = try Self.create(keys)
        #expect(try KeyFiles.load(directory: keys, now: Self.now).server.pin == before.server.nextPin)
    }

    @Test("The server's certificate tells which hosts it is for")
    func hosts() throws {
        let parent = try TemporaryDirectory()
        let hosts = ["auth.example", "*.devices.example", "192.0.2.7", "2001:db8::7"]
        var creation = KeyCreation(
            directory: parent.path + "/Keys", hosts: hosts, now: Self.now,
            randomBytes: { count in (0..<count).map { _ in UInt8.random(in: 0...255) } })
        _ = try creation.run()
        let server = try KeyFiles.server(in: parent.path + "/Keys", now: Self.now)
        for host in ["auth.example", "AUTH.example", "a.devices.example", "192.0.2.7", "2001:db8:0::7"] {
            #expect(server.covers(host), "\(host)")
        }
        for host in [
            "", "example", "x.auth.example", "devices.example", "a.b.devices.example", "192.0.2.8", "2001:db8::8", "::",
            "0.0.0.0", "auth.example.",
        ] {
            #expect(!server.covers(host), "\(host)")
        }
    }

    @Test("A missing file, an open mode, a foreign pair and an expired certificate are refused with a remedy")
    func refusals() throws {
        let parent = try TemporaryDirectory()
        let (keys, others) = (parent.path + "/Keys", parent.path + "/Others")
        _ = try Self.create(keys)
        _ = try Self.create(others)
        func complaint(now: Date = Self.now) -> String? {
            do throws(CommandFailure) {
                _ = try KeyFiles.load(directory: keys, now: now)
                return nil
            } catch {
                return error.sentence
            }
        }
        func exchange(_ name: String) throws {
            for (from, to) in [("Keys", "Middle"), ("Others", "Keys"), ("Middle", "Others")] {
                let target = parent.path + "/\(to)" + (to == "Middle" ? "" : "/\(name)")
                let source = parent.path + "/\(from)" + (from == "Middle" ? "" : "/\(name)")
                try FileManager.default.moveItem(atPath: source, toPath: target)
            }
        }
        #expect(complaint() == nil)
        for name in [
            "ca.key", "server.key", "server-next.key", "nonce.key", "phone-code.key", "service.key", "access-token.key",
        ] {
            let path = keys + "/" + name
            for mode in [0o640, 0o604] {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
                #expect(complaint()?.contains("chmod 600 \(path)") == true)
            }
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
            // `keys init` makes no key beside the certificate that it belongs to.
            let remedy = name == "ca.key" ? "restore the key from its backup" : "countersign keys init --keys \(keys)"
            #expect(complaint()?.contains(remedy) == true, "\(name)")
            try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
        }
        for name in ["wrapping.key", "blind-index.key"] {
            // A new one would read well and open nothing of the store.
            try FileManager.default.moveItem(atPath: keys + "/" + name, toPath: keys + "/away")
            #expect(complaint()?.contains("restore it from its backup") == true, "\(name)")
            try FileManager.default.moveItem(atPath: keys + "/away", toPath: keys + "/" + name)
        }
        #expect(complaint() == nil)
        for name in ["server.key", "server.pem", "ca.pem", "ca.key"] {
            try exchange(name)
            #expect(complaint()?.contains("does not belong") == true)
            try exchange(name)
            #expect(complaint() == nil)
        }
        let expired = try #require(complaint(now: Self.now + 400 * 86_400))
        // Without its names a new certificate would be one for localhost.
        #expect(expired.contains("expired") && expired.contains("--host NAME"))
    }

    @Test("The remedy for a missing secret that somebody else gave out is not `keys init`, which does not make it")
    func foreignSecrets() throws {
        let parent = try TemporaryDirectory()
        for name in ["twilio.secret", "webhook.secret", "issuer-check.secret", "aws-credentials", "ca.uri"] {
            let failure = #expect(throws: CommandFailure.self) {
                _ = try KeyFile(path: parent.path + "/" + name, isPrivate: true).read()
            }
            #expect(failure?.sentence.contains("\(parent.path)/\(name) is missing") == true)
            #expect(failure?.sentence.contains("keys init") == false, "\(name)")
        }
    }

    @Test("A certificate without its key is not papered over")
    func lostKey() throws {
        let parent = try TemporaryDirectory()
        let keys = parent.path + "/Keys"
        _ = try Self.create(keys)
        for name in ["ca.key", "server.key"] {
            let path = keys + "/" + name
            try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
            #expect(throws: CommandFailure.self) { try Self.create(keys) }
            #expect(!FileManager.default.fileExists(atPath: path))
            try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
        }
    }

    @Test("A file that is there is never replaced")
    func exclusive() throws {
        let directory = try TemporaryDirectory()
        let file = KeyFile(path: directory.path + "/nonce.key", isPrivate: true)
        try file.create("first\n")
        #expect(throws: CommandFailure.self) { try file.create("second\n") }
        #expect(try file.read() == "first\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["nonce.key"])
    }

    @Test("A directory with other things in it keeps its mode")
    func sharedDirectory() throws {
        let directory = try TemporaryDirectory()
        try Data().write(to: URL(filePath: directory.path + "/other.txt"))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory.path)
        _ = try Self.create(directory.path)
        #expect(try Self.mode(directory.path) == 0o755)
    }

    @Test("A kept certificate of the server that expires within a month is named with its expiry")
    func keptCertificate() throws {
        let keys = try TemporaryDirectory().path + "/Keys"
        _ = try Self.create(keys)
        let path = KeyFiles.path(.serverCertificate, keys)
        let end = try KeyFiles.load(directory: keys, now: Self.now).server.notAfter
        #expect(KeysCommand.Init.expiry(of: path, in: keys, now: Self.now) == nil)
        for (now, verb) in [(end - 86_400, "expires"), (end + 1, "expired")] {
            let note = try #require(KeysCommand.Init.expiry(of: path, in: keys, now: now))
            #expect(note.contains("\(verb) at \(end.rfc3339)") && note.contains("--host NAME"))
        }
        #expect(KeysCommand.Init.expiry(of: keys + "/none.pem", in: keys, now: end) == nil)
    }
}
