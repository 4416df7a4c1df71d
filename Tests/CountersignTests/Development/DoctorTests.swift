import ArgumentParser
import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Synchronization
import Testing
import Tokens

@testable import countersign

@Suite("The doctor")
struct DoctorTests {
    @Test("says nothing of a sound installation, reached from outside or on its developer's machine")
    func sound() async throws {
        let installation = try await Installation()
        let found = await installation.examine()
        #expect(found.isEmpty, "\(found)")
        let own = try await Installation(arguments: [])
        try own.write("Policies/certification.yaml", "gate: open\n")
        try own.write("Policies/delivery.yaml", "senders:\n  - kind: file\n")
        let foundHere = await own.examine()
        #expect(foundHere.isEmpty, "\(foundHere)")
    }

    @Test("finds each of the faults, and says what mends it", arguments: Fault.all)
    func finds(_ fault: Fault) async throws {
        let installation = try await Installation()
        try await fault.plant(installation)
        let found = await installation.examine()
        #expect(found.contains { $0.check == fault.check && $0.line.contains(fault.words) }, "\(fault): \(found)")
        // No fault has a crowd of findings behind it that hides it. Old files of a sample issuer have three.
        #expect(found.count <= 3, "\(fault): \(found.map(\.line))")
        #expect(found.allSatisfy { !$0.what.isEmpty && !$0.mend.isEmpty && !$0.line.contains("\n") })
    }

    @Test("prints a line for each finding and ends with 1; it says so and ends with 0 where there is none")
    func command() async throws {
        let installation = try await Installation()
        func doctor(_ more: [String] = []) async throws -> Command.Result {
            try await Command.run(
                try RunningService.product("countersign"),
                ["doctor", "--reference-data", "off"] + installation.places + installation.arguments + more)
        }
        let sound = try await doctor()
        #expect(
            sound.status == 0 && sound.output == "Everything was examined and found in order.\n"
                && sound.errors.isEmpty, "\(sound)")
        let value = try await doctor(["--json"])
        #expect(value.output == "{\"sound\":true,\"findings\":[]}\n", "\(value)")
        try installation.write("Policies/certification.yaml", "gate: open\n")
        let ill = try await doctor()
        #expect(ill.status == 1 && ill.output.split(separator: "\n").count == 1, "\(ill)")
        #expect(ill.output.hasPrefix("gate: ") && ill.errors.isEmpty, "\(ill)")
        let shown = try await doctor(["--json"])
        #expect(shown.status == 1 && shown.output.contains("\"check\":\"gate\""), "\(shown)")
        #expect(try await doctor(["--backups", "never"]).status == 2)
    }

    @Test("has the rule of `status` for certificates that end soon, and `status` needs no private key for it")
    func status() async throws {
        let installation = try await Installation()
        func problems() async throws -> String {
            let result = try await Command.run(
                try RunningService.product("countersign"), ["status"] + installation.places)
            #expect(result.status == 0, "\(result)")
            return String(result.output.split(separator: "\n").first { $0.hasPrefix("problems") } ?? "")
        }
        #expect(try await !problems().contains("server.pem"))
        for name in ["ca.pem", "ca.key", "server.pem", "server.key"] {
            try FileManager.default.removeItem(atPath: installation.path("Keys/\(name)"))
        }
        try Installation.makeKeys(installation.path("Keys"), madeAt: Date().addingTimeInterval(-380 * 86_400))
        for name in ["ca.key", "server.key"] {
            try FileManager.default.removeItem(atPath: installation.path("Keys/\(name)"))
        }
        #expect(try await problems().contains("server.pem expires at"))
    }

    @Test("knows of a backup once the store was backed up")
    func backup() async throws {
        let installation = try await Installation()
        try await installation.age(days: 8)
        #expect(await installation.examine().map(\.check) == [.backup])
        let made = try await Command.run(
            try RunningService.product("countersign"),
            ["store", "backup", installation.path("b.db")] + installation.places)
        #expect(made.status == 0, "\(made)")
        #expect(await installation.examine().isEmpty)
        installation.now = Date().addingTimeInterval(8 * 86_400)
        #expect(await installation.examine().contains { $0.check == .backup })
        installation.backupAge = nil
        #expect(await !installation.examine().contains { $0.check == .backup })
    }
}

/// Files of a service that nobody has started.
final class Installation {
    static let named = [
        "--public", "0.0.0.0:8440", "--client", "0.0.0.0:8441", "--realm", "auth.example", "--base-url",
        "https://auth.example", "--client-url", "https://clients.auth.example:8441",
    ]

    let directory: TemporaryDirectory
    var arguments: [String]
    var now: Date?
    var backupAge: TimeInterval? = 7 * 86_400
    /// No test fails because time went by.
    var referenceAge: Int?
    var freeBytes: Int64 = 1 << 40

    /// Keys of ten days ago: they take their time.
    private static let keys = Mutex<TemporaryDirectory?>(nil)

    init(arguments: [String] = Installation.named) async throws {
        self.arguments = arguments
        directory = try TemporaryDirectory()
        try FileManager.default.copyItem(atPath: try Self.keyFiles(), toPath: path("Keys"))
        try FileManager.default.createDirectory(atPath: path("Policies"), withIntermediateDirectories: false)
        try write("Policies/certification.yaml", "gate: provider\n")
        try write("Policies/delivery.yaml", "senders:\n  - kind: webhook\n    url: https://texts.example/\n")
        try write("Keys/webhook.secret", "whsec_" + Data(repeating: 7, count: 32).base64EncodedString(), mode: 0o600)
        try await within { store in
            try await store.migrate(Schema.migrations)
            _ = try await Administration(store: store, environment: Environment(), actor: "admin test") {
                throw Refusal(.unavailable, "no keys")
            }
            .addProvider(
                name: "Test", slug: nil, account: nil, avatarHosts: [], key: try ProviderSigner(.es256).verificationKey)
            let fingerprints = try self.fingerprints()
            try await store.write { try KeyFingerprintRepository($0).add(fingerprints) }
        }
    }

    static func makeKeys(_ path: String, madeAt: Date) throws {
        var creation = KeyCreation(
            directory: path, hosts: ["auth.example", "clients.auth.example"], now: madeAt,
            randomBytes: { count in (0..<count).map { _ in UInt8.random(in: .min ... .max) } })
        _ = try creation.run()
    }

    private static func keyFiles() throws -> String {
        try keys.withLock { held in
            if let held { return held.path + "/Keys" }
            let directory = try TemporaryDirectory()
            try makeKeys(directory.path + "/Keys", madeAt: Date().addingTimeInterval(-10 * 86_400))
            held = directory
            return directory.path + "/Keys"
        }
    }

    func path(_ name: String) -> String { directory.path + "/" + name }

    func write(_ name: String, _ text: String, mode: Int = 0o644) throws {
        try Data(text.utf8).write(to: URL(filePath: path(name)))
        try chmod(name, mode)
    }

    func chmod(_ name: String, _ mode: Int) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path(name))
    }

    var places: [String] {
        ["--keys", path("Keys"), "--policies", path("Policies"), "--store", "sqlite:\(path("store.db"))"]
    }

    func fingerprints(policy: Policy = Policy(), realm: String = "auth.example") throws -> NodeFingerprints {
        let keys = try KeyFiles.load(directory: path("Keys"), now: Date())
        return keys.fingerprints(
            nonceKey: NonceKey(keys.nonceSecrets.current), server: keys.server, realm: realm, policy: policy)
    }

    func policy() throws -> Policy { try PolicyFiles.load(directory: path("Policies"), required: true) }

    func within(_ body: (any Database) async throws -> Void) async throws {
        let store = try SQLiteDatabase(path: path("store.db"), clock: { Date() })
        try await body(store)
        try await store.close()
    }

    /// Makes the store older than it is.
    func age(days: Int) async throws {
        try await within { store in
            _ = try await store.write {
                try $0.execute(
                    "UPDATE schema_migrations SET applied_at = applied_at - $1", [.integer(Int64(days) * 86_400)])
            }
        }
    }

    /// A node that was seen a moment ago.
    func addNode(_ fingerprints: NodeFingerprints) async throws {
        try await within { store in
            try await store.write {
                try ClusterMemberRepository($0).write(
                    NodeID(UUID()), host: "other", version: "1", startedAt: $0.now, fingerprints)
            }
        }
    }

    func examine() async -> [Finding] {
        guard let shared = try? SharedOptions.parse(places), let serve = try? ServeOptions.parse(arguments) else {
            return [Finding(.configuration, "the options are none", "mend the test")]
        }
        let (now, free) = (now, freeBytes)
        return await Examination(
            shared: shared, serve: serve, backupAge: backupAge, referenceAge: referenceAge, now: { now ?? Date() },
            freeBytes: { _ in free }, environment: [:], file: path("countersign.yaml"))()
    }
}
