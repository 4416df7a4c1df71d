import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Tables rates, generations and store_settings, and what is counted or restored across tables")
struct MaintenanceTableTests {
    @Test("A limit refuses what comes too soon, and forgets what is long ago", arguments: StoreKind.shared)
    func rates(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (limit, keys) = (RateLimit(count: 2, per: 60), tables.keys)
            let networks = NetworkLimits(perAddress: 2, per56: 9, per48: 9)
            func attempts(_ count: @Sendable @escaping (RateRepository) throws -> Void) async throws -> [Bool] {
                try await tables.write { transaction in
                    (0..<3).map { _ in (try? count(RateRepository(transaction))) != nil }
                }
            }
            #expect(try await attempts { try $0.count("a", limit: limit) } == [true, true, false])
            #expect(try await attempts { try $0.countExactly("b", limit: limit) } == [true, true, false])
            #expect(
                try await attempts { try $0.count(.text, from: "192.0.2.1", keys: keys, limits: networks) }
                    == [true, true, false])
            // A place that is given back is free for one more, and no more than all become free.
            #expect(
                try await attempts {
                    let places = try $0.count(.text, from: "192.0.2.2", keys: keys, limits: networks)
                    for _ in 0..<2 { try $0.giveBack(places) }
                } == [true, true, true])
            #expect(
                try await attempts { try $0.count(.text, from: "192.0.2.2", keys: keys, limits: networks) }
                    == [true, true, false])
            let room = try await tables.read { transaction in
                ["a", "c"].map { (try? RateRepository(transaction).requireRoom($0, limit: limit)) != nil }
            }
            #expect(room == [false, true])
            let stored = try await tables.store.read { try $0.values("SELECT key FROM rates", as: String.self) }
            #expect(stored.allSatisfy { !$0.contains("192.0.2.1") })
            try await tables.write { try RateRepository($0).purge(before: .distantFuture) }
            #expect(try await tables.count("rates") == 0)
        }
    }

    @Test("Only an empty store becomes one of development, once and for all", arguments: StoreKind.shared)
    func development(kind: StoreKind) async throws {
        for held in [nil, "key_fingerprints", "audit_entries"] {
            try await withStore(kind, migrations: Schema.migrations) { store in
                let plans = StatementPlans(kind)
                let marks = try await store.write { inner in
                    let transaction = plans.recording(inner)
                    let settings = StoreSettingRepository(transaction)
                    switch held {
                    case "key_fingerprints":
                        try KeyFingerprintRepository(transaction).add(
                            NodeFingerprints(items: [.wrappingKeys: [1: Digest256.of("a")]], policies: [:]))
                    case "audit_entries":
                        try AuditRepository(transaction).append(
                            .storeMoved, subject: .store, actor: "test", id: UUID())
                    default: break
                    }
                    let before = try settings.isDevelopment()
                    let taken = [try settings.markDevelopment(), try settings.markDevelopment()]
                    return [before] + taken + [try settings.isDevelopment()]
                }
                let expected = held == nil ? [false, true, true, true] : [false, false, false, false]
                #expect(marks == expected, "\(held ?? "-")")
                let rows: Int? = try await store.read { try $0.value("SELECT COUNT(*) FROM store_settings") }
                #expect(rows == (held == nil ? 1 : 0))
                try await plans.requireNoScan(store)
            }
        }
    }

    @Test("A generation of nonces takes the place of the one before it", arguments: StoreKind.shared)
    func generations(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let name = UUID()
            let generations = try await tables.write { transaction in
                let records = RestoreRepository(transaction)
                let before = try records.nonceGeneration()
                try records.beginNonceGeneration(UUID())
                try records.beginNonceGeneration(name)
                return [before, try records.nonceGeneration()]
            }
            #expect(generations == ["", name.uuidString.lowercased()])
            #expect(try await tables.count("generations") == 1)
        }
    }

    @Test(
        "A restored store has no open session, no message and no phone verification left", arguments: StoreKind.shared)
    func restoring(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let session = tables.session(1)
            let message = OutboxMessage(
                id: OutboxMessageID(UUID()), kind: .phoneCode, owner: OutboxOwner(tables.provider), subject: "x",
                userID: tables.user,
                deduplicationKey: "x", payload: [1], createdAt: TestTables.now, expiresAt: TestTables.now,
                dueAt: TestTables.now)
            let later = TestTables.now.addingTimeInterval(60)
            let answers = try await tables.write { [keys = tables.keys] transaction in
                try SessionRepository(transaction).insert(session, at: .first)
                _ = try OutboxRepository(transaction).insert(message)
                _ = try DataKeyRepository(transaction, keys: keys).findOrCreate(tables.user)
                try DataKeyRepository(transaction, keys: keys).erase(tables.user, at: TestTables.now)
                try AuditRepository(transaction).append(
                    .userErased, subject: AuditSubject(.user, tables.user), actor: "service", id: UUID())
                let records = RestoreRepository(transaction)
                try records.spend("x/y", until: later)
                let sessions = SessionRepository(transaction)
                try BulkRevocationRepository(transaction).deleteAll()
                let numbers = try [
                    sessions.endAllAfterRestore(at: TestTables.now), sessions.endAllAfterRestore(at: TestTables.now),
                    records.dropUnsentMessages(),
                ]
                try records.endPhoneVerifications()
                let keys = try [
                    records.end(tables.providerKey, retiredAt: nil, revokedAt: TestTables.now),
                    records.end(tables.providerKey, retiredAt: nil, revokedAt: TestTables.now),
                    records.end(ProviderKeyID(UUID()), retiredAt: TestTables.now, revokedAt: nil),
                ]
                return (numbers, keys)
            }
            #expect(answers.0 == [1, 0, 1])
            #expect(answers.1 == [true, false, false])
            let (erased, ended, spent) = try await tables.read {
                let records = RestoreRepository($0)
                return try (records.erasures(), records.endedProviderKeys(), records.spentIdentifiers())
            }
            #expect(erased.map(\.user) == [tables.user, tables.user])
            let entry = try #require(erased.compactMap(\.entry).first)
            let has = try await tables.read {
                try [RestoreRepository($0).hasAuditEntry(entry), RestoreRepository($0).hasAuditEntry("other")]
            }
            #expect(has == [true, false])
            #expect(ended.map(\.id) == [tables.providerKey])
            #expect(ended.first?.revokedAt == TestTables.now)
            #expect(spent.map(\.identifier) == ["x/y"])
        }
    }

    @Test("The store counts what there is", arguments: StoreKind.shared)
    func status(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let sessions = [tables.session(1), tables.session(2)]
            try await tables.write { transaction in
                for session in sessions { try SessionRepository(transaction).insert(session, at: .first) }
                try SessionRepository(transaction).challenge(.session(sessions[1].id), at: TestTables.now)
            }
            let (counted, few, providers) = try await tables.read { transaction in
                let records = StatusRepository(transaction)
                return try (
                    records.counts(policy: SessionPolicy(), atMost: 5),
                    records.counts(policy: SessionPolicy(), atMost: 4), records.providers()
                )
            }
            let counts = try #require(counted)
            #expect(counts[.sessions, "authenticated"] == 1 && counts[.sessions, "challenged"] == 1)
            #expect(counts[.users, "none"] == 1 && counts[.users, "phone"] == 0)
            #expect(counts[.certificates, "valid"] == 1 && counts[.certificates, "revoked"] == 0)
            #expect(counts[.devices, "all"] == 1 && counts[.outbox, "waiting"] == 0)
            #expect(few == nil)
            #expect(providers == (1, 0))
        }
    }

    @Test("A count page by page, kept and gone on with, is the count at once", arguments: StoreKind.shared)
    func pages(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let sessions = (1...7).map { tables.session($0) }
            try await tables.write { transaction in
                for session in sessions { try SessionRepository(transaction).insert(session, at: .first) }
                try SessionRepository(transaction).challenge(.session(sessions[1].id), at: TestTables.now)
            }
            var counts = StoreCounts()
            for _ in 0..<20 where !counts.isWhole {
                let kept = try #require(StoreCounts(text: counts.text))
                counts = try await tables.read { transaction in
                    var counts = kept
                    let rows = try StatusRepository(transaction).count(
                        &counts, policy: SessionPolicy(), limit: 2)
                    #expect(rows <= 2)
                    return counts
                }
            }
            #expect(counts.isWhole && counts[.sessions, "authenticated"] == 6)
            let whole = try await tables.read {
                try StatusRepository($0).counts(policy: SessionPolicy(), atMost: .max)
            }
            #expect(whole == counts)
            let done = counts
            try await tables.write { try StoreSettingRepository($0).keep(done) }
            let last = try await tables.read { try StoreSettingRepository($0).lastCounts() }
            #expect(last?.at == TestTables.now && last?[.sessions, "challenged"] == 1)
            #expect(StoreCounts(text: "{}") == nil)
        }
    }
}
