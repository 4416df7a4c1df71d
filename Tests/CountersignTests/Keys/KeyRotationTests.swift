import ArgumentParser
import Database
import Domain
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations
@testable import countersign

@Suite("Rotating the wrapping key", .serialized)
struct KeyRotationTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    /// A directory of keys and a store with users in it, as admin commands and a server that runs on see them.
    private struct Bench {
        let admin: Admin
        let directory: String
        /// A server's keys, read before anything was rotated.
        let server: PersonalKeys
        let users: [UserID]
        let provider: ProviderID

        var file: String { directory + "/wrapping.key" }

        /// Opens everyone's row with the server's keys and with those of a process that starts now, and lets the server
        /// meet a new user.
        func expectAllOpen(_ moment: String) async throws {
            let started = try KeyFiles.personal(in: directory)
            for keys in [server, started] {
                let names = try await admin.store(for: .manage).read { [users] transaction in
                    try users.map { try AuthenticatedUserRepository(transaction, keys: keys).find($0)?.phoneNumber }
                }
                #expect(names == users.indices.map { "+1415555267\($0)" }, "\(moment)")
            }
            let newcomer = UserID(UUID())
            try await admin.store(for: .manage).write { [server, provider] transaction in
                let user = try UserRepository(transaction).findOrCreate(
                    providerID: provider, externalID: newcomer.description, newID: newcomer, at: KeyRotationTests.now)
                _ = try DataKeyRepository(transaction, keys: server).findOrCreate(user.id)
            }
            let isOpen = try await admin.store(for: .manage).read { transaction in
                try DataKeyRepository(transaction, keys: try KeyFiles.personal(in: directory)).find(newcomer) != nil
            }
            #expect(isOpen, "\(moment)")
        }
    }

    private static func bench(_ body: (Bench) async throws -> Void) async throws {
        let parent = try TemporaryDirectory()
        let directory = parent.path + "/Keys"
        var creation = KeyCreation(
            directory: directory, hosts: ["localhost"], now: now,
            randomBytes: { count in (0..<count).map { _ in UInt8.random(in: 1...255) } })
        _ = try creation.run()
        let clock: @Sendable () -> Date = { now }
        try await withStore(migrations: Schema.migrations, clock: clock) { store in
            let server = try KeyFiles.personal(in: directory)
            let provider = ProviderID(UUID())
            let slug = try #require(Slug("test"))
            let users = try await store.write { transaction in
                _ = try ProviderRepository(transaction).insert(
                    Provider(
                        id: provider, slug: slug, name: "Test", account: nil, avatarHosts: [], createdAt: now,
                        disabledAt: nil))
                return try (0..<5).map { index in
                    let user = try UserRepository(transaction).findOrCreate(
                        providerID: provider, externalID: "\(index)", newID: UserID(UUID()), at: now)
                    _ = try AuthenticatedUserRepository(transaction, keys: server).phoneProven(
                        user, "+1415555267\(index)", at: now)
                    return user.id
                }
            }
            try await body(
                Bench(
                    admin: Admin(
                        installation: countersign.Installation(SharedOptions.parse(["--keys", directory])),
                        store: store, environment: Environment()),
                    directory: directory,
                    server: server, users: users, provider: provider))
        }
    }

    @Test("Cut short after any step everything opens, and the next run finishes the same version")
    func cutShort() async throws {
        try await Self.bench { bench in
            let file = URL(filePath: bench.file)
            // While the file is written: a draft is left.
            try "2 half".write(toFile: bench.file + ".123.new", atomically: false, encoding: .utf8)
            try await bench.expectAllOpen("with a draft left")
            do {
                let held = try WrappingKeyFile(directory: bench.directory)
                #expect(!FileManager.default.fileExists(atPath: bench.file + ".123.new"))
                try held.add([UInt8](repeating: 7, count: 32))
            }
            try await bench.expectAllOpen("after the file")
            let started = try KeyFiles.personal(in: bench.directory)
            let rotation = RotateWrappingKey(try bench.admin.administration, keys: started)
            let progress = try await rotation.progress()
            #expect(progress.version == 2 && !progress.isInForce && progress.remaining == 7)
            try await rotation.putInForce()
            try await bench.expectAllOpen("after it was put in force")
            _ = try await bench.admin.store(for: .manage).write {
                try DataKeyRepository($0, keys: started).rewrap(after: nil, limit: 2)
            }
            try await bench.expectAllOpen("after the first batch")
            let text = try String(contentsOf: file, encoding: .utf8)
            let finished = try await WrappingKeyRotation(bench.admin).run(stage: false, prune: false)
            #expect(!finished.added && finished.version == 2 && finished.rewrapped > 0 && finished.kept == [1, 2])
            #expect(try String(contentsOf: file, encoding: .utf8) == text)
            try await bench.expectAllOpen("after the run")
            // Said to be removed, and still there.
            #expect(try await rotation.takeLeave(of: [1, 2]) == [1])
            try await bench.expectAllOpen("before the old version goes")
            let pruned = try await WrappingKeyRotation(bench.admin).run(stage: false, prune: true)
            #expect(pruned.removed == [1] && pruned.kept == [2] && !pruned.added)
            try await bench.expectAllOpen("after the old version went")
        }
    }

    @Test("Each run adds a version, wraps all data keys under it, and keeps the file for its owner alone")
    func runs() async throws {
        try await Self.bench { bench in
            for version in 2...4 {
                let report = try await WrappingKeyRotation(bench.admin).run(stage: false, prune: false)
                #expect(report.added && report.version == version && report.unreadable == 0)
                #expect(report.rewrapped == bench.users.count + version - 2)
                #expect(report.kept == Set(1...version))
                try await bench.expectAllOpen("after version \(version)")
            }
            let mode = try FileManager.default.attributesOfItem(atPath: bench.file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            #expect(try await WrappingKeyRotation(bench.admin).run(stage: false, prune: true).removed == [1, 2, 3])
            let entries = try await bench.admin.store(for: .manage).read { transaction in
                try transaction.query("SELECT event, subject FROM audit_entries ORDER BY subject, event").map {
                    "\(try $0.text(0)) \(try $0.text(1))"
                }
            }
            #expect(
                entries == [
                    "wrapping_key_rotated wrapping key 2", "wrapping_key_rotated wrapping key 3",
                    "wrapping_key_rotated wrapping key 4", "wrapping_keys_removed wrapping key 4",
                ])
        }
    }

    @Test("A staged version lies in the file alone, and the next run puts it in force")
    func staged() async throws {
        try await Self.bench { bench in
            let staged = try await WrappingKeyRotation(bench.admin).run(stage: true, prune: false)
            #expect(staged.added && staged.rewrapped == 0 && staged.kept == [1, 2])
            let again = try await WrappingKeyRotation(bench.admin).run(stage: true, prune: false)
            #expect(!again.added && again.version == 2)
            try await bench.expectAllOpen("staged")
            #expect(bench.server.currentWrappingVersion == 1)
            #expect(try await WrappingKeyRotation(bench.admin).run(stage: false, prune: true).removed == [1])
            try await bench.expectAllOpen("in force")
            #expect(bench.server.currentWrappingVersion == 2)
        }
    }

    @Test("A version that a damaged row still names is not removed")
    func damagedRow() async throws {
        try await Self.bench { bench in
            try await bench.admin.store(for: .manage).write { [users = bench.users] transaction in
                try transaction.execute(
                    "UPDATE data_keys SET wrapped = $2 WHERE user_id = $1",
                    [.text(users[0].description), .bytes([1])])
            }
            let report = try await WrappingKeyRotation(bench.admin).run(stage: false, prune: false)
            #expect(report.unreadable == 1 && report.rewrapped == 4)
            #expect(try await WrappingKeyRotation(bench.admin).run(stage: false, prune: true).removed == [])
        }
    }

    @Test("Two commands do not change the file at once")
    func exclusive() async throws {
        try await Self.bench { bench in
            let held = try WrappingKeyFile(directory: bench.directory)
            await #expect(throws: CommandFailure.self) {
                try await WrappingKeyRotation(bench.admin).run(stage: false, prune: false)
            }
            #expect(try held.versions() == [1])
        }
    }

    @Test("While a service runs, its clients read on through three rotations, twelve kills and a pruning")
    func live() async throws {
        let service = try await RunningService()
        let output = try await expectScript(
            "Process/rotation.py",
            service.clientArguments + [
                "--countersign", try RunningService.product("countersign"), "--directory", service.directory.path,
                "--pid", "\(service.processIdentifier)",
            ], seconds: 400)
        #expect(output.contains("none failed"))
        #expect(service.stop() == 0)
        let log = try String(contentsOf: service.path("log"), encoding: .utf8)
        #expect(!log.contains("internal_error"))
        try service.start()
    }
}
