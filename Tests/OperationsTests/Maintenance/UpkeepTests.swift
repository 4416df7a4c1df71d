import Authority
import Crypto
import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Synchronization
import Testing

@testable import Operations

/// What admins do to devices and to the store as a whole.
@Suite("Upkeep")
struct UpkeepTests {
    private func text(_ opened: Service.OpenedSession) throws -> String { try #require(opened.token).text.reveal() }

    private func events(_ store: any Database) async throws -> [[String]] {
        try await store.read { transaction in
            try transaction.query("SELECT event, actor, reason, subject FROM audit_entries ORDER BY at, event, subject")
                .map { row in
                    [try row.text(0), try row.text(1), try row.textOrNull(2) ?? "-", try row.text(3)]
                }
        }
    }

    @Test("Revoking a device takes its certificates and sessions, is audited by certificate, and says so on the list")
    func device() async throws {
        try await ServiceFixture.run { fixture in
            let connection = try await fixture.connectNewDevice()
            let session = try await fixture.opened("alice", on: connection)
            let device = session.session.deviceID
            let other = try await fixture.connectNewDevice()
            #expect(try await fixture.admin.listDevices(limit: 9).map(\.certificates) == [1, 1])
            let revoked = try await fixture.admin.revokeDevice(device, reason: .keyCompromise)
            #expect(revoked.serials.count == 1)
            #expect(revoked.sessionsEnded.count == 1)
            let line = try #require(try await fixture.admin.listDevices(limit: 9).first { $0.id == device })
            #expect((line.certificates, line.sessions) == (0, 0))
            await #expect(throws: Refusal(.conflict, "")) {
                try await fixture.admin.revokeDevice(device, reason: .keyCompromise)
            }
            await #expect(throws: Refusal(.notFound, "")) {
                try await fixture.admin.revokeDevice(DeviceID(UUID()), reason: .keyCompromise)
            }
            let entry = ["certificate_revoked", "admin test", "keyCompromise", "certificate \(revoked.serials[0])"]
            #expect(try await events(fixture.store).contains(entry))
            // The other device goes on.
            _ = try await fixture.opened("bob", on: other)
        }
    }

    @Test("Challenging a user challenges every session of that user and no other's")
    func challenge() async throws {
        try await ServiceFixture.run { fixture in
            let connection = try await fixture.connectNewDevice()
            let alice = try await fixture.opened("alice", on: connection)
            _ = try await fixture.opened("alice", on: connection)
            let bob = try await fixture.opened("bob", on: connection)
            #expect(try await fixture.admin.challengeUser("test/alice", reason: "ticket:5") == 2)
            let states = try await fixture.store.read { transaction in
                try [alice, bob].map { try SessionRepository(transaction).find($0.session.id)?.state }
            }
            #expect(states == [.challenged, .authenticated])
            let entry = ["session_challenged", "admin test", "ticket:5", "user \(alice.session.userID)"]
            #expect(try await events(fixture.store).contains(entry))
            await #expect(throws: Refusal(.notFound, "")) {
                try await fixture.admin.challengeUser("test/nobody", reason: nil)
            }
        }
    }

    @Test("The counts of sessions are those of their effective states, whatever the clock says")
    func status() async throws {
        try await ServiceFixture.run { fixture in
            let connection = try await fixture.connectNewDevice()
            let policy = SessionPolicy()
            for number in 0..<12 {
                _ = try await fixture.opened("user \(number)", on: connection)
                fixture.clock.advance(3700)
                if number % 3 == 0 {
                    try await fixture.store.write { transaction in
                        try transaction.execute(
                            "UPDATE sessions SET last_used_at = $1 WHERE state = 'authenticated' AND renewed_at > $2",
                            [
                                .integer(transaction.now.milliseconds),
                                .integer(transaction.now.milliseconds - Int64(policy.absoluteLifetime * 1000)),
                            ])
                    }
                }
                if number % 4 == 1 {
                    try await fixture.store.write { transaction in
                        for session in try SessionRepository(transaction).listOpen(limit: 2) {
                            try SessionRepository(transaction).challenge(.session(session.id), at: transaction.now)
                        }
                    }
                }
                fixture.clock.advance(Double(number) * 1800)
                let now = fixture.clock.now
                let summary = try await ReportStatus(store: fixture.store, policy: policy)()
                let states = try await fixture.store.read { try SessionRepository($0).listOpen(limit: 100) }
                    .map { $0.effectiveState(at: now, policy: policy) }
                #expect(summary.sessions.authenticated == states.count { $0 == .authenticated })
                #expect(summary.sessions.challenged == states.count { $0 == .challenged })
                #expect(summary.users[.none] == number + 1)
                #expect(summary.certificates.valid + summary.certificates.expired == 1)
            }
        }
    }

    @Test("A nonce of another generation is not recognized")
    func generations() throws {
        let secret = Secret([UInt8](repeating: 1, count: 32))
        let (old, new) = (NonceKey(secret), NonceKey(secret, generation: "2"))
        let nonce = Nonce.issue(
            randomBytes: [UInt8](repeating: 7, count: 16), expiresAt: Date(timeIntervalSince1970: 1_800_000_000),
            thumbprint: Digest256.of("certificate"), key: old)
        #expect(Nonce(issuedHere: nonce, key: old) != nil)
        #expect(Nonce(issuedHere: nonce, key: NonceKey(secret, generation: "")) != nil)
        #expect(Nonce(issuedHere: nonce, key: new) == nil)
    }

    @Test(
        "A restored copy has no session, nonce or message, and misses nothing that was taken since",
        arguments: StoreKind.shared)
    func restore(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            try await withTemporaryDirectory { directory in
                let connection = try await fixture.connectNewDevice()
                let gone = try await fixture.opened("gone", on: connection)
                let stolen = try await fixture.connectNewDevice()
                _ = try await fixture.opened("alice", on: stolen)
                try await fixture.store.write {
                    try ClusterMemberRepository($0).write(
                        NodeID(UUID()), host: "web-1", version: "1", startedAt: $0.now,
                        NodeFingerprints(items: [:], policies: [:]))
                }
                let restored = try await backup(fixture, kind, in: directory)
                let bench = try BanBench(fixture)
                let freed = try await bench.ban(.user("test/alice")).ban
                let environment = Environment(now: { fixture.clock.now })
                _ = try await fixture.admin.eraseUser(
                    gone.session.userID.description, reason: "user_request")
                try await fixture.revokeCertificate.own(of: stolen)
                // One that the copy does not even know.
                let later = try await fixture.connectNewDevice()
                try await fixture.revokeCertificate.own(of: later)
                _ = try await fixture.publish()
                _ = try await fixture.admin.disableProvider("test", reason: "ticket:1")

                _ = try await bench.admin.liftBan(freed.id, note: "an error")
                try await bench.ban(.user("test/alice"), note: "again")
                let restore = RestoreStore(
                    restored: restored, replaced: fixture.store, keys: fixture.personalKeys, environment: environment,
                    actor: "admin test")
                let report = try await restore(reason: "ticket:2")
                #expect(
                    report
                        == expected {
                            $0.sessionsEnded = 2
                            $0.erased = 1
                            $0.bans = 2
                            $0.certificatesRevoked = 2
                            $0.providersDisabled = 1
                        })
                let generation = try await restored.read { try RestoreRepository($0).nonceGeneration() }
                #expect(!generation.isEmpty)
                #expect(try await restored.read { try SessionRepository($0).listOpen(limit: 9) }.isEmpty)
                #expect(try await restored.read { try ClusterMemberRepository($0).live() }.isEmpty)
                let known = try await restored.read { try CertificateRepository($0).find(thumbprint: later.thumbprint) }
                #expect(known?.revoked?.reason == "cessationOfOperation")
                let lists = try await restored.read { try RevocationListRepository($0).all() }
                #expect(Set(lists.map(\.number)) == [1])
                let kept = try await events(restored)
                #expect(kept.contains { $0[0] == "store_restored" && $0[2] == "ticket:2" })
                #expect(kept.contains { $0[0] == "user_erased" && $0[2] == "erased_before_restore" })
                // Once more: what was replayed stands, and the generation is another.
                let again = try await restore(reason: nil)
                #expect((again.sessionsEnded, again.certificatesRevoked, again.providersDisabled) == (0, 0, 0))
                #expect(try await restored.read { try RestoreRepository($0).nonceGeneration() } != generation)
                try await restored.close()
            }
        }
    }

    /// The store as it is now, in another place; of a file by its own backup.
    private func backup(_ fixture: ServiceFixture, _ kind: StoreKind, in directory: URL) async throws -> any Database {
        let clock = fixture.clock
        let now: @Sendable () -> Date = { clock.now }
        guard kind.description == StoreKind.sqlite.description else {
            let restored = try kind.open(directory, now)
            let copy = CopyStoreTests.copier(fixture.store, restored, Schema.migrations)
            #expect(try await copy(isFinal: false).isEqual)
            return restored
        }
        let path = try #require(
            try await fixture.store.read {
                try $0.first("SELECT file FROM pragma_database_list WHERE name = 'main'")?.text(0)
            })
        let copy = directory.appending(path: "copy.db").path
        try SQLiteMaintenance(path: path).backup(to: copy)
        #expect(try SQLiteMaintenance(path: copy).inspect() == [])
        #expect(try FileManager.default.attributesOfItem(atPath: copy)[.posixPermissions] as? Int == 0o600)
        return try SQLiteDatabase(path: copy, clock: now)
    }

    private func expected(_ change: (inout RestoreStore.Report) -> Void) -> RestoreStore.Report {
        var report = RestoreStore.Report()
        change(&report)
        return report
    }

    @Test("A store that is in use is not replaced; one that is not is replaced in one step and kept")
    func replacing() async throws {
        try await withTemporaryDirectory { directory in
            func path(_ name: String) -> String { directory.appending(path: name).path }
            let clock: @Sendable () -> Date = { Date(timeIntervalSince1970: 1_800_000_000) }
            let store = try SQLiteDatabase(path: path("store.db"), clock: clock)
            try await store.migrate(Schema.migrations)
            let upkeep = try SQLiteMaintenance(path: path("store.db"), busyTimeout: 0.1)
            try upkeep.backup(to: path("copy.db"))
            #expect(throws: StoreError.unavailable(reason: "")) { try upkeep.backup(to: path("copy.db")) }
            #expect(throws: StoreError.unavailable(reason: "")) { try upkeep.requireUnused() }
            #expect(throws: StoreError.unavailable(reason: "")) {
                try upkeep.replace(by: path("copy.db"), keeping: path("kept.db"))
            }
            // The refusal has broken nothing.
            try await store.write { try $0.execute("INSERT INTO rates (key, arrival) VALUES ('a', 1)") }
            try await store.close()
            try upkeep.requireUnused()
            try upkeep.replace(by: path("copy.db"), keeping: path("kept.db"))
            let names = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
            #expect(names == ["kept.db", "store.db"])
            for (name, count) in [("store.db", 0), ("kept.db", 1)] {
                let opened = try SQLiteDatabase(path: path(name), clock: clock)
                let rows = try await opened.read { try $0.query("SELECT * FROM rates") }
                #expect(rows.count == count)
                try await opened.close()
            }
            #expect(throws: StoreError.unavailable(reason: "")) { try SQLiteMaintenance(path: path("nowhere.db")) }
        }
    }

    @Test("A backup under writers is a moment of the store: whole, and not before it was asked for")
    func online() async throws {
        try await withTemporaryDirectory { directory in
            func path(_ name: String) -> String { directory.appending(path: name).path }
            let clock: @Sendable () -> Date = { Date(timeIntervalSince1970: 1_800_000_000) }
            let store = try SQLiteDatabase(path: path("store.db"), clock: clock)
            try await store.migrate(Schema.migrations)
            // Two rows that only ever change together, beside enough others to make the copy take several steps.
            try await store.write { transaction in
                for number in 0..<20_000 {
                    try transaction.execute(
                        "INSERT INTO rates (key, arrival) VALUES ($1, 0)",
                        [.text("\(number) \(String(repeating: "x", count: 200))")])
                }
                try transaction.execute("INSERT INTO rates (key, arrival) VALUES ('left', 0)")
                try transaction.execute("INSERT INTO rates (key, arrival) VALUES ('right', 0)")
            }
            let count = Mutex(0)
            let writer = Task {
                while !Task.isCancelled {
                    try await store.write { transaction in
                        for key in ["left", "right"] {
                            try transaction.execute(
                                "UPDATE rates SET arrival = arrival + 1 WHERE key = $1", [.text(key)])
                        }
                    }
                    count.withLock { $0 += 1 }
                }
            }
            for _ in 0..<12000 where count.withLock({ $0 == 0 }) { try await Task.sleep(for: .milliseconds(10)) }
            for round in 0..<3 {
                try SQLiteMaintenance(path: path("store.db")).backup(to: path("copy\(round).db"))
                let upkeep = try SQLiteMaintenance(path: path("copy\(round).db"))
                #expect(try upkeep.inspect() == [])
                let copy = try SQLiteDatabase(path: upkeep.path, clock: clock)
                let rows = try await copy.read { transaction in
                    try transaction.query("SELECT arrival FROM rates WHERE key IN ('left', 'right')")
                }
                #expect(rows.count == 2)
                #expect(rows.first == rows.last)
                try await copy.close()
            }
            writer.cancel()
            try await writer.value
            #expect(count.withLock { $0 } > 0)
            try await store.close()
        }
    }
}
