import Crypto
import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Repositories
import Synchronization
import Testing

@Suite("Purging the audit log")
struct AuditPurgeTests {
    private static func purge(_ store: any Database, _ clock: AuditTests.Clock, days: Double = 730) -> PurgeAudit {
        var policy = Policy()
        policy.retention.auditEntries = days * 86_400
        return PurgeAudit(
            store: store, key: AuditTests.key, keyID: "k1", keys: AuditTests.keys, policy: CurrentPolicy(policy),
            environment: Environment(now: { clock.now }))
    }

    private static func count(_ store: any Database) async throws -> Int64? {
        try await store.read { try $0.first("SELECT COUNT(*) FROM audit_entries")?.integer(0) }
    }

    /// A log of 300 signed entries, then two years, then 300 more.
    private static func grown(_ body: (any Database, AuditTests.Clock, SealAudit) async throws -> Void) async throws {
        try await AuditTests.run { store, clock, seal in
            for _ in 0..<3 {
                try await AuditTests.append(store, 100)
                try await seal(signingAll: true)
                clock.advance(60)
            }
            clock.advance(730 * 86_400)
            try await AuditTests.append(store, 300)
            try await seal(signingAll: true)
            try await body(store, clock, seal)
        }
    }

    @Test("deletes up to the last checkpoint that is old enough; the rest is verified from there, and grows on")
    func purged() async throws {
        try await AuditTests.run { store, clock, seal in
            for _ in 0..<3 {
                try await AuditTests.append(store, 100)
                try await seal(signingAll: true)
                clock.advance(86_400)
            }
            let purge = Self.purge(store, clock, days: 30)
            #expect(try await purge() == nil)
            clock.advance(28.5 * 86_400)
            let anchor = try #require(try await purge())
            #expect(anchor.sequence == 200)
            #expect(try await Self.count(store) == 100)
            try await AuditTests.append(store, 5)
            try await seal(signingAll: true)
            let report = try await AuditTests.verify(store)
            #expect(report.defect == nil)
            #expect(report.anchor == anchor)
            #expect((report.entries, report.signed) == (105, 305))
            clock.advance(365 * 86_400)
            #expect(try await purge()?.sequence == 305)
            #expect(try await Self.count(store) == 0)
            let empty = try await AuditTests.verify(store)
            #expect((empty.defect, empty.entries, empty.anchor?.sequence) == (nil, 0, 305))
            try await AuditTests.append(store, 1)
            try await seal(signingAll: true)
            #expect(try await AuditTests.verify(store).defect == nil)
        }
    }

    @Test("keeps up with a busy log: housekeeping goes on until nothing is left that is old enough")
    func busy() async throws {
        try await ServiceFixture.run { fixture in
            let (store, clock) = (fixture.store, AuditTests.Clock())
            let seal = AuditTests.sealer(store, clock)
            // As many checkpoints as three rounds take.
            for _ in 0..<48 {
                try await AuditTests.append(store, 2)
                try await seal(signingAll: true)
            }
            clock.advance(31 * 86_400)
            let anchors = Mutex(0)
            let task = Self.purge(store, clock, days: 30).task { _ in anchors.withLock { $0 += 1 } }
            let report = try await Housekeeping(fixture.context, also: [task])()
            #expect(report.failed.isEmpty && report.finished.contains("audit_entries"))
            #expect(anchors.withLock { $0 } == 3)
            #expect(try await Self.count(store) == 0)
        }
    }

    @Test("leaves an export that an independent reader verifies from the anchor")
    func exported() async throws {
        try await Self.grown { store, clock, _ in
            #expect(try await Self.purge(store, clock)()?.sequence == 300)
            let scratch = try ScratchDirectory()
            var bytes: [UInt8] = []
            try await ReadAudit(store: store).export(keys: .array([]), write: { bytes += $0 })
            let key = try scratch.write(AuditTests.key.publicKey.pemRepresentation, "key.pem")
            func judge(_ text: String) async throws -> Command.Result {
                try await Command.run(
                    try Command.python("python"),
                    [
                        RunningService.root.appending(path: "Tests/Interop/Audit/verify_audit.py").path,
                        try scratch.write(text, "audit.jsonl"), "--key", key,
                    ], seconds: 400)
            }
            let text = String(decoding: bytes, as: UTF8.self)
            let whole = try await judge(text)
            #expect(whole.status == 0, "\(whole.output)\(whole.errors)")
            #expect(whole.output.contains("\"from\": 301") && whole.output.contains("\"entries\": 300"))
            // Without the anchor, or with the checkpoint in its place, the beginning is missing.
            let lines = text.split(separator: "\n")
            let bare = lines.filter { !$0.contains("\"anchor\"") }.joined(separator: "\n")
            #expect(try await judge(bare).status == 1)
            let checkpoint = try #require(lines.first { $0.contains("\"checkpoint\"") })
            let forged = text.replacing(
                try #require(lines.first { $0.contains("\"anchor\"") }),
                with: checkpoint.replacing("\"checkpoint\"", with: "\"anchor\""))
            #expect(try await judge(forged).status == 1)
        }
    }

    @Test("cannot be passed off by whoever has the store and not the key: every shorter beginning is a defect")
    func forged() async throws {
        try await Self.grown { store, clock, _ in
            let tokens = try await store.read { try AuditChainRepository($0).checkpoints(after: 0, through: .max) }
            func expect(_ defect: AuditChain.Defect, _ statements: [(String, [Value])]) async throws {
                let report = try await Self.tampered(store, statements)
                #expect(report.defect == defect)
            }
            func anchored(_ sequence: Int64, _ token: String) -> (String, [Value]) {
                ("INSERT INTO audit_anchors (sequence, token) VALUES ($1, $2)", [.integer(sequence), .text(token)])
            }
            let cut: [(String, [Value])] = [
                ("DELETE FROM audit_entries WHERE sequence <= 200", []),
                ("DELETE FROM audit_checkpoints WHERE sequence <= 200", []),
            ]
            try await expect(.missing(1), cut)
            // A checkpoint is signed by the same key and says the same digest, but is no leave to purge.
            try await expect(.anchorForged(200), cut + [anchored(200, tokens[1].token)])
            try await expect(.anchorForged(200), cut + [anchored(200, "")])
            let real = try AuditAnchor(sequence: 100, digest: Digest256.of("x"), at: clock.now)
                .signed(by: AuditTests.key, keyID: "k1")
            try await expect(.anchorForged(200), cut + [anchored(200, real)])
            let foreign = try AuditAnchor(sequence: 200, digest: Digest256.of("x"), at: clock.now)
                .signed(by: P256.Signing.PrivateKey(), keyID: "k1")
            try await expect(.anchorForged(200), cut + [anchored(200, foreign)])
            try await expect(
                .checkpointKeyUnknown(200, keyID: "k9"),
                cut + [
                    anchored(
                        200,
                        try AuditAnchor(sequence: 200, digest: Digest256.of("x"), at: clock.now)
                            .signed(by: AuditTests.key, keyID: "k9"))
                ])
            // After a true purge: what is behind it, cut further; and the anchor taken away.
            _ = try await Self.purge(store, clock)()
            try await expect(.missing(301), [("DELETE FROM audit_entries WHERE sequence <= 400", [])])
            try await expect(.missing(1), [("DELETE FROM audit_anchors", [])])
            #expect(try await Self.tampered(store, []).defect == nil)
        }
    }

    @Test("does not destroy the traces of a change: a log that does not hold is kept")
    func defective() async throws {
        try await Self.grown { store, clock, _ in
            try await store.write {
                try $0.execute("UPDATE audit_entries SET subject = 'nobody' WHERE sequence = 150")
            }
            await #expect(throws: AuditChain.Defect.altered(150)) { try await Self.purge(store, clock)() }
            #expect(try await Self.count(store) == 600)
            #expect(try await store.read { try AuditAnchorRepository($0).current()?.sequence } == nil)
        }
    }

    @Test("that dies at any statement loses nothing that holds, and is finished by the next round")
    func crashes() async throws {
        try await AuditTests.run { store, clock, seal in
            var died = 0
            for point in 0..<14 {
                try await AuditTests.append(store, 60)
                try await seal(signingAll: true)
                clock.advance(31 * 86_400)
                let failing = FailingStore(store: store, statements: point)
                do {
                    _ = try await Self.purge(failing, clock, days: 30)()
                } catch is FailingStore.Crash {
                    died += 1
                }
                #expect(try await AuditTests.verify(store).defect == nil, "after \(point) statements")
            }
            #expect(died > 5)
            clock.advance(31 * 86_400)
            _ = try await Self.purge(store, clock, days: 30)()
            #expect(try await Self.count(store) == 0)
            #expect(try await AuditTests.verify(store).anchor?.sequence == 14 * 60)
        }
    }

    @Test("says so where a checkpoint from elsewhere is for an entry that is gone")
    func witness() async throws {
        try await Self.grown { store, clock, _ in
            let tokens = try await store.read { try AuditChainRepository($0).checkpoints(after: 0, through: .max) }
            let kept = try tokens.map { try AuditCheckpoint(token: $0.token, keys: AuditTests.keys) }
            _ = try await Self.purge(store, clock)()
            let verdicts = [
                try await AuditTests.verify(store, witness: kept[0]).defect,
                try await AuditTests.verify(store, witness: kept[2]).defect,
                try await AuditTests.verify(store, witness: kept.last).defect,
                try await AuditTests.verify(
                    store,
                    witness: AuditCheckpoint(sequence: 300, digest: Digest256.of("x"), previous: 0, at: clock.now)
                ).defect,
            ]
            #expect(verdicts == [.purged(100, through: 300), nil, nil, .rewritten(after: 300, through: 300)])
        }
    }

    /// Verifies the store with statements carried out, which are taken back then.
    private static func tampered(
        _ store: any Database, _ statements: [(String, [Value])]
    ) async throws -> VerifyAudit.Report {
        try await withStore(migrations: Schema.migrations) { copy in
            for table in ["audit_entries", "audit_checkpoints", "audit_head", "audit_anchors"] {
                let shape = try #require(try await store.tables().first { $0.name == table })
                let columns = shape.columns.joined(separator: ", ")
                let rows = try await store.read { try $0.query("SELECT \(columns) FROM \(table)") }
                try await copy.write { transaction in
                    try transaction.execute("DELETE FROM \(table)")
                    for row in rows {
                        let places = (1...row.values.count).map { "$\($0)" }.joined(separator: ", ")
                        try transaction.execute("INSERT INTO \(table) (\(columns)) VALUES (\(places))", row.values)
                    }
                }
            }
            try await copy.write { transaction in
                for (sql, values) in statements { try transaction.execute(sql, values) }
            }
            return try await AuditTests.verify(copy)
        }
    }
}
