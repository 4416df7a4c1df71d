import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

@Suite("Cuts of many sessions")
struct BulkRevocationTests {
    /// Sessions of one user of the fixture's provider, as many as no sign-ins could open; none of them has a token that
    /// anybody knows.
    static func plant(_ count: Int, like session: Session, in store: any Database) async throws {
        try await store.write { transaction in
            for number in 0..<count {
                try SessionRepository(transaction).insert(
                    Session(
                        id: SessionID(UUID()), tokenHash: .of("planted \(session.id) \(number)"),
                        userID: session.userID, providerID: session.providerID, externalID: session.externalID,
                        applicationID: session.applicationID, deviceID: session.deviceID,
                        thumbprint: session.thumbprint, providerKeyID: session.providerKeyID, state: .authenticated,
                        createdAt: session.createdAt, renewedAt: session.renewedAt, lastUsedAt: session.lastUsedAt,
                        challengedAt: nil),
                    at: .first)
            }
        }
    }

    /// The sessions that the provider is told have ended, in no order.
    static func told(_ store: any Database) async throws -> [SessionID] {
        try await store.read { transaction in
            try transaction.query("SELECT payload FROM outbox").compactMap {
                guard case .sessionRevoked(let id) = ProviderEvent(jsonText: try $0.bytes(0)) else { return nil }
                return id
            }
        }
    }

    static func openRows(_ store: any Database) async throws -> Int64 {
        try await store.read {
            try $0.first("SELECT COUNT(*) FROM sessions WHERE state <> 'unauthenticated'")?.integer(0) ?? -1
        }
    }

    static func receive(_ fixture: ServiceFixture) async throws {
        let provider = fixture.registration.provider.id
        try await fixture.store.write {
            try ProviderWebhookRepository($0).set("https://receiver.invalid/", of: provider)
        }
    }

    static func sweeper(_ fixture: ServiceFixture) -> EndRevokedSessions {
        EndRevokedSessions(fixture.context(node: ServingNode(caches: Caches(store: fixture.store))))
    }

    @Test("Disabling a provider costs the same with no session and with 10,000", arguments: StoreKind.shared)
    func constantCost(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let counter = StatementCounter(fixture.store)
            let admin = Administration(store: counter, environment: fixture.admin.environment, actor: "admin test") {
                fixture.personalKeys
            }
            try await Self.receive(fixture)
            let opened = try await fixture.opened("alice", on: try await fixture.connectNewDevice())
            #expect(try await admin.disableProvider("test").count == 1)
            let few = counter.take()
            try await admin.enableProvider("test")
            _ = counter.take()
            try await Self.plant(10_000, like: opened.session, in: fixture.store)
            // Those of the first generation are over already: these are of the present one.
            try await fixture.store.write {
                try $0.execute(
                    "UPDATE sessions SET provider_generation = 1 WHERE id <> $1", [.text("\(opened.session.id)")])
            }
            let count = try await admin.disableProvider("test")
            #expect(count.count == CountedSessions.limit && count.isMore)
            let many = counter.take()
            #expect(many.statements == few.statements && many.rows == few.rows)
            #expect(few.statements <= 8 && few.rows <= 6)
        }
    }

    @Test("A session is over with the cut, its row later, and no later session with it", arguments: StoreKind.shared)
    func overAtOnce(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            try await Self.receive(fixture)
            let connection = try await fixture.connectNewDevice()
            let opened = try await fixture.opened("alice", on: connection)
            let token = try #require(opened.token).text.reveal()
            _ = try await fixture.context.checkSession(token, on: connection)
            _ = try await fixture.admin.disableProvider("test")
            try await fixture.watch.poll()
            await #expect(throws: Refusal(.sessionDestroyed, "")) {
                _ = try await fixture.context.checkSession(token, on: connection)
            }
            #expect(try await Self.openRows(fixture.store) == 1)
            try await fixture.admin.enableProvider("test")
            try await fixture.watch.poll()
            await #expect(throws: Refusal(.sessionDestroyed, "")) {
                _ = try await fixture.context.checkSession(token, on: connection)
            }
            let later = try await fixture.opened("alice", on: connection)
            #expect(try await Self.told(fixture.store) == [])

            #expect(try await Self.sweeper(fixture)() == 1)
            #expect(try await Self.told(fixture.store) == [opened.session.id])
            _ = try await fixture.context.checkSession(try #require(later.token).text.reveal(), on: connection)
            #expect(
                try await fixture.store.read { try SessionRepository($0).find(later.session.id)?.state }
                    == .authenticated)
        }
    }

    @Test("Rows end 1,000 in a transaction, each told once, though the first node dies", arguments: StoreKind.shared)
    func deadNode(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            try await Self.receive(fixture)
            let opened = try await fixture.opened("alice", on: try await fixture.connectNewDevice())
            try await Self.plant(2499, like: opened.session, in: fixture.store)
            _ = try await fixture.admin.disableProvider("test")
            let (dying, other) = (Self.sweeper(fixture), Self.sweeper(fixture))
            #expect(try await dying.endBatch() == EndRevokedSessions.batch)
            #expect(try await other.endBatch() == nil)
            // It says nothing any more.
            fixture.clock.advance(16)
            #expect(try await other() == 1500)
            let told = try await Self.told(fixture.store)
            #expect(told.count == 2500 && Set(told).count == 2500)
            #expect(try await Self.openRows(fixture.store) == 0)

            fixture.clock.advance(EndRevokedSessions.kept)
            #expect(try await dying() == 0)
            let cuts = try await fixture.store.read { try $0.first("SELECT COUNT(*) FROM cuts")?.integer(0) }
            #expect(cuts == 0)
            let details = try await fixture.store.read {
                try $0.query("SELECT detail FROM audit_entries WHERE event = 'session_ended'").map { try $0.text(0) }
            }
            #expect(details == ["2500 sessions ended: provider disabled"])
        }
    }

    @Test("Log-outs of one user that wait become one, which ends what all of them would", arguments: StoreKind.shared)
    func repeated(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            func waiting() async throws -> Int64? {
                try await fixture.store.read { try $0.first("SELECT COUNT(*) FROM cuts")?.integer(0) }
            }
            let opened = try await fixture.opened("alice", on: try await fixture.connectNewDevice())
            let (service, backend) = (fixture.context, try await fixture.backend())
            for _ in 0..<20 { try await service.endUserSessions(of: "alice", at: backend) }
            try await BanBench(fixture).ban(.user("test/alice"))
            // Of a sign-in that was under way.
            try await Self.plant(1, like: opened.session, in: fixture.store)
            #expect(try await Self.sweeper(fixture).endBatch() == 1)
            // The ban's stays: its rows say another reason.
            #expect(try await waiting() == 2)
            for _ in 0..<20 { try await service.endUserSessions(of: "alice", at: backend) }
            fixture.clock.advance(EndRevokedSessions.kept)
            #expect(try await Self.sweeper(fixture)() == 0)
            #expect(try await waiting() ?? 9 <= 2)
            fixture.clock.advance(EndRevokedSessions.kept)
            #expect(try await Self.sweeper(fixture)() == 0)
            #expect(try await waiting() == 0)
        }
    }

    /// Ends rows as maintenance does: what a busy store refuses is tried again at the next turn.
    private static func sweepAll(_ fixture: ServiceFixture) async throws {
        for _ in 0..<100 {
            do {
                if try await sweeper(fixture)() == 0 { return }
            } catch let refusal as Refusal where refusal.code == .unavailable {
                continue
            }
        }
        Issue.record("a hundred turns do not end all rows")
    }

    @Test("Two nodes that end rows at once tell of each session once", arguments: StoreKind.shared)
    func twoNodes(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            try await Self.receive(fixture)
            let connection = try await fixture.connectNewDevice()
            let opened = try await fixture.opened("alice", on: connection)
            try await Self.plant(2499, like: opened.session, in: fixture.store)
            _ = try await fixture.admin.disableProvider("test")
            async let first: Void = Self.sweepAll(fixture)
            async let second: Void = Self.sweepAll(fixture)
            _ = try await (first, second)
            #expect(try await Self.openRows(fixture.store) == 0)
            let told = try await Self.told(fixture.store)
            #expect(told.count == 2500 && Set(told).count == 2500)
        }
    }

    @Test("A banned user's sessions are over at once, some rows with the ban and the others behind it")
    func manyOfOneUser() async throws {
        try await ServiceFixture.run { fixture in
            try await Self.receive(fixture)
            let connection = try await fixture.connectNewDevice()
            let opened = try await fixture.opened("alice", on: connection)
            try await Self.plant(150, like: opened.session, in: fixture.store)
            try await BanBench(fixture).ban(.user("test/alice"))
            #expect(try await Self.openRows(fixture.store) == 51)
            #expect(try await fixture.store.read { try SessionRepository($0).listOpen(limit: 9) }.isEmpty)
            #expect(try await Self.sweeper(fixture)() == 51)
            #expect(Set(try await Self.told(fixture.store)).count == 151)
            #expect(try await Self.sweeper(fixture)() == 0)
        }
    }

    @Test("A row that a sign-in under way adds behind a ban is over, and is ended, too", arguments: StoreKind.shared)
    func lateRow(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            try await Self.receive(fixture)
            let opened = try await fixture.opened("alice", on: try await fixture.connectNewDevice())
            try await BanBench(fixture).ban(.user("test/alice"))
            #expect(try await Self.openRows(fixture.store) == 0)
            try await Self.plant(1, like: opened.session, in: fixture.store)
            #expect(try await fixture.store.read { try SessionRepository($0).listOpen(limit: 9) }.isEmpty)
            #expect(try await Self.sweeper(fixture)() == 1)
            #expect(Set(try await Self.told(fixture.store)).count == 2)
        }
    }

    @Test("Of two bans on a user the one that is left still holds, and after both a sign-in looks at none")
    func twoBans() async throws {
        try await ServiceFixture.run { fixture in
            let bans = try BanBench(fixture)
            let connection = try await fixture.connectNewDevice()
            _ = try await fixture.opened("alice", on: connection)
            let messaging = try await bans.ban(.user("test/alice"), .messaging, for: 600).ban
            let all = try await bans.ban(.user("test/alice"), for: 60).ban
            func held() async throws -> Int64? {
                try await fixture.store.read {
                    try $0.first("SELECT held FROM users WHERE external_id = 'alice'")?.integer(0)
                }
            }
            _ = try await bans.admin.liftBan(messaging.id, note: "a mistake")
            #expect(try await held() == 1)
            await #expect(throws: Refusal(.userBanned, "", banReason: Ban.Reason(rawValue: "spam"))) {
                _ = try await fixture.opened("alice", on: connection)
            }
            _ = try await bans.admin.liftBan(all.id, note: "a mistake")
            #expect(try await held() == 0)
            _ = try await fixture.opened("alice", on: connection)
        }
    }
}
