import ArgumentParser
import Database
import Domain
import Encoding
import Fixtures
import Foundation
import NIOSSL
import Operations
import Repositories
import Testing

@testable import countersign

@Suite("The commands of administrators", .serialized)
struct AdministratorCommandTests {
    private static func report(_ words: [String], at installation: Installation) async throws -> Report {
        let parsed = try CommandLineWords.parse(words + installation.places)
        return try await #require(parsed as? any ReportingCommand).report()
    }

    private static func json(_ words: [String], at installation: Installation) async throws -> JSONValue {
        try await report(words, at: installation).json
    }

    @Test("make a key with a certificate that the password opens, of an authority apart from that of devices")
    func certificate() async throws {
        let installation = try await Installation()
        let file = installation.path("lena.p12")
        let added = try await Self.json(["admin", "add", "lena", "--role", "support", "--out", file], at: installation)
        let password = try #require(added["password"]?.text)
        let bundle = try NIOSSLPKCS12Bundle(file: file, passphrase: password.utf8)
        let chain = bundle.certificateChain
        let own = try NIOSSLCertificate.fromPEMFile(installation.path("Keys/admin-ca.pem"))
        #expect(chain.count == 2 && chain.last == own.first)
        #expect(own != (try NIOSSLCertificate.fromPEMFile(installation.path("Keys/ca.pem"))))
        #expect(throws: (any Error).self) { try NIOSSLPKCS12Bundle(file: file, passphrase: "wrong".utf8) }
        for name in ["lena.p12", "Keys/admin-ca.key"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: installation.path(name))
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
        // The store knows the certificate by its digest, and no file of a device's authority was changed.
        let thumbprint = Digest256.of(try #require(try chain.first?.toDERBytes()))
        try await installation.within { store in
            let found = try await store.read { try $0.query("SELECT thumbprint FROM admin_certificates") }
            #expect(try found.map { try $0.bytes(0) } == [thumbprint.bytes])
        }
    }

    @Test("certify a request of a hardware token, and leave no file if the store refuses the administrator")
    func request() async throws {
        let installation = try await Installation()
        let request = installation.path("lena.csr")
        try TestAuthority.certificationRequest(commonName: "ignored").write(
            toFile: request, atomically: true, encoding: .utf8)
        let file = installation.path("lena.pem")
        let words = ["admin", "add", "lena", "--role", "support", "--csr", request, "--out"]
        let added = try await Self.json(words + [file], at: installation)
        #expect(added["password"] == nil || added["password"] == .null)
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text.hasPrefix("-----BEGIN CERTIFICATE-----"))
        await #expect(throws: Refusal.administratorExists("lena")) {
            try await Self.report(words + [installation.path("again.pem")], at: installation)
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: installation.path("")).filter {
            $0.hasPrefix("again")
        }
        #expect(left == [])
    }

    @Test("refuse another authority while administrators have certificates of a missing one")
    func missingAuthority() async throws {
        let installation = try await Installation()
        let words = ["admin", "add", "lena", "--role", "support", "--out", installation.path("lena.p12")]
        _ = try await Self.report(words, at: installation)
        for name in ["admin-ca.key", "admin-ca.pem"] {
            try FileManager.default.removeItem(atPath: installation.path("Keys/" + name))
        }
        let failure = await #expect(throws: CommandFailure.self) {
            try await Self.report(
                ["admin", "renew", "lena", "--out", installation.path("new.p12")], at: installation)
        }
        #expect(failure?.sentence.contains("copy admin-ca.key and admin-ca.pem") == true)
        #expect(!FileManager.default.fileExists(atPath: installation.path("Keys/admin-ca.key")))
    }

    @Test("give each administrator a certificate of a new authority before the former one goes")
    func rotation() async throws {
        let installation = try await Installation()
        let before = await #expect(throws: CommandFailure.self) {
            try await Self.report(["keys", "rotate", "admin-ca", "--stage"], at: installation)
        }
        #expect(before?.sentence.contains("admin-ca.pem is missing") == true)
        for name in ["lena", "ben"] {
            _ = try await Self.report(
                ["admin", "add", name, "--role", "security", "--out", installation.path("\(name).p12")],
                at: installation
            )
        }
        for step in [["--stage"], []] {
            _ = try await Self.report(["keys", "rotate", "admin-ca"] + step, at: installation)
        }
        let prune = ["keys", "rotate", "admin-ca", "--prune"]
        for (name, left) in [("lena", "ben, lena."), ("ben", "authority: ben.")] {
            let failure = await #expect(throws: CommandFailure.self) { try await Self.report(prune, at: installation) }
            #expect(failure?.sentence.contains(left) == true, "\(failure?.sentence ?? "")")
            _ = try await Self.report(
                ["admin", "renew", name, "--out", installation.path("\(name)-2.p12")], at: installation)
        }
        #expect(
            try await Self.json(prune, at: installation)["changed"]?.jsonText.contains("admin-ca-former.pem") == true)
    }

    @Test("limit an account by its role, whatever name it claims, and refuse it after the removal")
    func account() async throws {
        let installation = try await Installation()
        let account = NSUserName()
        _ = try await Self.report(
            ["admin", "add", "aud", "--role", "auditor", "--os-user", account], at: installation)
        for words in [["admin", "list"], ["audit", "tail"], ["status"]] {
            await #expect(throws: Never.self, "\(words)") { try await Self.report(words, at: installation) }
        }
        for words in [
            ["session", "list"], ["user", "list"], ["review", "list"], ["provider", "list"], ["ban", "list"],
            ["admin", "remove", "aud"], ["keys", "rotate"], ["device", "list", "--actor", "root"],
            ["store", "backup", installation.path("b.db")], ["store", "migrate"],
        ] {
            let refusal = await #expect(throws: Refusal.self, "\(words)") {
                try await Self.report(words, at: installation)
            }
            #expect(refusal?.code == .insufficientScope, "\(words)")
        }
        #expect(!FileManager.default.fileExists(atPath: installation.path("b.db")))
        await #expect(throws: Never.self) { try await Self.report(["store", "check"], at: installation) }
        // Another account of the system, without an administrator, removes it.
        try await installation.within { store in
            let admin = Administration(store: store, environment: Environment(), actor: "admin root") {
                throw Refusal(.unavailable, "no keys")
            }
            try await admin.removeAdministrator("aud")
        }
        await #expect(throws: Refusal.administratorRemoved("aud")) {
            try await Self.report(["admin", "list"], at: installation)
        }
    }

    @Test(
        "need the bans.yaml of a node that runs, since a mapped account could name one without a second administrator")
    func policies() async throws {
        let installation = try await Installation()
        _ = try await Self.report(
            ["admin", "add", "sec", "--role", "security", "--os-user", NSUserName()], at: installation)
        let list = ["admin", "list"]
        await #expect(throws: Never.self) { try await Self.report(list, at: installation) }
        try await installation.addNode(try installation.fingerprints(policy: try installation.policy()))
        await #expect(throws: Never.self) { try await Self.report(list, at: installation) }
        try installation.write("Policies/bans.yaml", "four_eyes_over: 9\n")
        let failure = await #expect(throws: CommandFailure.self) { try await Self.report(list, at: installation) }
        #expect(failure?.sentence.contains("bans.yaml differs from that of every node") == true)
        // The new policy is on its way to the nodes.
        try await installation.addNode(try installation.fingerprints(policy: try installation.policy()))
        await #expect(throws: Never.self) { try await Self.report(list, at: installation) }
    }

    @Test("list acts that wait, with what a ban is about")
    func acts() async throws {
        let installation = try await Installation()
        _ = try await Self.report(
            ["admin", "add", "lena", "--role", "security", "--os-user", "lena"], at: installation)
        let content = """
            {"kind": "phone", "subjects": [{"version": 1, "index": "\(Digest256.of("number").base64URL)"}], \
            "scope": "messaging", "reason": "spam", "ends_at": 1800000000000, "with_devices": false, "replaces": true}
            """
        try await installation.within { store in
            try await store.write { transaction in
                let lena = try #require(try AdministratorRepository(transaction).find(name: "lena"))
                try WaitingActRepository(transaction).insert(
                    WaitingAct(
                        id: WaitingActID(UUID()), kind: .ban, subject: "ban", content: content, users: 3,
                        reason: "spam",
                        requestedBy: lena.id, createdAt: transaction.now, isUrgent: false))
            }
        }
        let report = try await Self.report(["admin", "acts"], at: installation)
        let cells = report.tables.flatMap { $0.flatMap(\.self) }
        #expect(cells.contains { $0.hasPrefix("phone, scope messaging, until 2027-01-15T08:00:00") })
        #expect(cells.contains { $0.hasSuffix("replaces active bans") })
        #expect(report.json.jsonText.contains("\"scope\":\"messaging\""))
    }
}
