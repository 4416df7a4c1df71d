import Crypto
import Database
import Domain
import Fixtures
import Foundation
import Repositories
import Synchronization
import Testing

@testable import Operations

@Suite("Banning users")
struct BanTests {
    private static let banned = Refusal(.userBanned, "", banReason: Ban.Reason(rawValue: "spam"))

    private func text(_ opened: Service.OpenedSession) throws -> String { try #require(opened.token).text.reveal() }

    @Test("ends every session of the user on every device and nobody else's, in one transaction with its record")
    func sessions() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            let first = try await fixture.connectNewDevice()
            let second = try await fixture.connectNewDevice()
            let alice = [
                (try text(try await fixture.opened("alice", on: first)), first),
                (try text(try await fixture.opened("alice", on: second)), second),
            ]
            let bob = try text(try await fixture.opened("bob", on: second))
            let before = try await bench.count("audit_entries")
            let done = try await bench.ban(.user("test/alice"))
            #expect(done.impact.users.map(\.address) == ["test/alice"])
            #expect(done.impact.sessions.count == 2 && done.impact.devices.isEmpty)
            for (token, connection) in alice {
                await #expect(throws: Refusal(.sessionDestroyed, "")) {
                    try await fixture.context.checkSession(token, on: connection)
                }
            }
            _ = try await fixture.context.checkSession(bob, on: second)
            #expect(try await bench.count("audit_entries") == before + 1)
            #expect(try await bench.count("audit_entries", where: "event = 'ban_added'") == 1)
            #expect(try await bench.count("change_log", where: "kind = 3") == 1)
        }
    }

    @Test("closes the connections that only banned users have sessions on, and takes theirs off the others")
    func connections() async throws {
        var policy = Policy()
        policy.sessions.attach = .explicit
        try await ServiceFixture.run(policy) { fixture in
            let closed = Atomic<Int>(0)
            func connect(_ like: ClientConnection) async throws -> ClientConnection {
                let connection = ClientConnection(id: ConnectionID(UUID()), thumbprint: like.thumbprint) {
                    closed.add(1, ordering: .relaxed)
                }
                try await fixture.context.authenticate(connection)
                return connection
            }
            let device = try await fixture.connectNewDevice()
            let (own, shared) = (try await connect(device), try await connect(device))
            let alice = try await fixture.opened("alice", on: own).session.userID
            let second = try await fixture.opened("alice", on: shared)
            let bob = try text(try await fixture.opened("bob", on: shared))
            own.detach([alice])
            shared.detach([alice])
            #expect(closed.load(ordering: .relaxed) == 1)
            // Attachment is asked for after everything else: the session itself is as it was.
            await #expect(throws: Refusal(.sessionNotAttached, "")) {
                try await fixture.context.checkSession(try text(second), on: shared)
            }
            _ = try await fixture.context.checkSession(bob, on: shared)
            // One that nobody signed in on is nobody's.
            try await connect(device).detach([alice])
            #expect(closed.load(ordering: .relaxed) == 1)
        }
    }

    @Test("is told at sign-in to the holder of the user's proof alone, with reason, end and a token for the own data")
    func signIn() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            let alice = try await bench.phones.person("alice")
            try await bench.ban(.user("test/alice"), for: 3600)
            let identity = try fixture.identityToken("alice", on: alice.connection)
            let refusal = await #expect(throws: Refusal.self) {
                try await fixture.context.openSession(identityToken: identity, applicationID: nil, on: alice.connection)
            }
            #expect(refusal == Self.banned)
            #expect(refusal?.until == fixture.clock.now + 3600)
            let token = try #require(refusal?.exportToken).reveal()
            #expect(refusal?.description.contains(token) == false)
            // The proof was used: it gives no second token.
            await #expect(throws: Refusal(.invalidIdentityToken, "", reason: .nonceUsed)) {
                try await fixture.context.openSession(identityToken: identity, applicationID: nil, on: alice.connection)
            }
            // Another user's proof tells nothing of alice.
            _ = try await fixture.opened("bob", on: alice.connection)
            // The token opens the own data, here and for ten minutes.
            let holder = try fixture.context.admitExportToken(token, on: alice.connection)
            #expect(holder == alice.session.userID)
            #expect(
                try await fixture.context.exportPersonalData(of: holder, on: alice.connection).address == "test/alice")
            let elsewhere = try await fixture.connectNewDevice()
            #expect(throws: Refusal(.sessionRequired, "")) {
                try fixture.context.admitExportToken(token, on: elsewhere)
            }
            await #expect(throws: Refusal(.sessionDestroyed, "")) {
                try await fixture.context.checkSession(token, on: alice.connection)
            }
            fixture.clock.advance(600)
            #expect(throws: Refusal(.sessionExpired, "")) {
                try fixture.context.admitExportToken(token, on: alice.connection)
            }
            fixture.clock.advance(3000)
            _ = try await fixture.opened("alice", on: alice.connection)
        }
    }

    @Test("of messaging leaves sessions and sign-in alone")
    func messaging() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            let alice = try await bench.phones.person("alice")
            let token = try text(try await fixture.opened("alice", on: alice.connection))
            let done = try await bench.ban(.user("test/alice"), .messaging)
            #expect(done.impact.sessions.isEmpty && done.impact.users.count == 1)
            _ = try await fixture.context.checkSession(token, on: alice.connection)
            _ = try await fixture.opened("alice", on: alice.connection)
            let claims = try await fixture.context.readUserClaims("alice", of: fixture.registration.provider.id)
            #expect(!claims.isBanned)
            let holds = try await fixture.store.read { try BanRepository($0).holdsInForce(on: claims.user.id) }
            #expect(BanEntry.activeBan(among: holds, for: .messaging, at: fixture.clock.now) != nil)
            #expect(BanEntry.activeBan(among: holds, for: .all, at: fixture.clock.now) == nil)
        }
    }

    @Test("can be lifted, once; that revives no session, and the user signs in anew")
    func lifting() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            let connection = try await fixture.connectNewDevice()
            let token = try text(try await fixture.opened("alice", on: connection))
            let ban = try await bench.ban(.user("test/alice")).ban
            let provider = fixture.registration.provider.id
            #expect(try await fixture.context.readUserClaims("alice", of: provider).isBanned)
            #expect(try await bench.admin.liftBans(on: .user("test/alice"), note: "a mistake").map(\.id) == [ban.id])
            try await fixture.watch.poll()
            await #expect(throws: Refusal(.sessionDestroyed, "")) {
                try await fixture.context.checkSession(token, on: connection)
            }
            _ = try await fixture.opened("alice", on: connection)
            #expect(try await !fixture.context.readUserClaims("alice", of: provider).isBanned)
            await #expect(throws: Refusal(.conflict, "")) { try await bench.admin.liftBan(ban.id, note: "again") }
            await #expect(throws: Refusal(.notFound, "")) {
                try await bench.admin.liftBans(on: .user("test/alice"), note: "again")
            }
            #expect(try await bench.count("audit_entries", where: "event = 'ban_lifted'") == 1)
        }
    }

    @Test("is foreseen without a change, and refused where it would hit more users than were agreed on")
    func foreseen() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            let alice = try await bench.phones.person("alice")
            let other = try await bench.stranger("alice")
            try await bench.prove("+14155552671", alice)
            try await bench.prove("+14155552671", other)
            let order = try bench.order(.user("test/alice"), withDevices: true)
            let impact = try await bench.admin.previewBan(order)
            #expect(Set(impact.users.map(\.user.id)) == [alice.session.userID, other.session.userID])
            #expect(impact.sessions.count == 2 && impact.devices == [alice.session.deviceID])
            #expect(impact.holdsNumber && !impact.holdsDocument)
            let unconfirmed = await #expect(throws: Administration.UnconfirmedBan.self) {
                try await bench.ban(order, upTo: 1)
            }
            #expect(unconfirmed?.users == 2)
            #expect(try await bench.count("bans") == 0)
            #expect(try await bench.count("ban_holds") == 0)
            #expect(try await bench.count("sessions", where: "state = 'unauthenticated'") == 0)
            #expect(try await bench.ban(order, upTo: 2).impact.users.count == 2)
        }
    }

    @Test("keeps its note sealed, shows it to admins, and writes the look into the audit log")
    func notes() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            _ = try await bench.phones.person("alice")
            let ban = try await bench.ban(.user("test/alice"), note: "threatened Mallory Miller").ban
            _ = try await bench.admin.liftBan(ban.id, note: "Mallory Miller withdrew it")
            let rows = try await fixture.store.read { transaction in
                try ["* FROM bans", "* FROM ban_holds", "* FROM audit_entries", "kind, key FROM change_log"].flatMap {
                    try transaction.query("SELECT \($0)").map { "\($0)" }
                }
            }
            let bytes = Array("Mallory".utf8).map(String.init).joined(separator: ", ")
            for row in rows { #expect(!row.contains("Mallory") && !row.contains(bytes)) }
            let opened = try await bench.admin.readBan(ban.id)
            #expect(opened.note == "threatened Mallory Miller")
            #expect(opened.liftNote == "Mallory Miller withdrew it")
            #expect(opened.summary.ban.state(at: fixture.clock.now) == .lifted)
            #expect(
                try await bench.count(
                    "audit_entries", where: "event = 'personal_data_read' AND subject = 'ban \(ban.id)'") == 1)
            #expect(try await bench.admin.listBans(isActive: true, limit: 10).isEmpty)
            #expect(try await bench.admin.banHistory(of: .user("test/alice")).map(\.ban.id) == [ban.id])
        }
    }

    @Test("keeps its notes when the wrapping key is replaced, and opens them without the old one")
    func rewrapping() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            _ = try await bench.phones.person("alice")
            let ban = try await bench.ban(.user("test/alice"), note: "first").ban
            _ = try await bench.admin.liftBan(ban.id, note: "second")
            let new = SymmetricKey(size: .bits256)
            let both = try PersonalKeys(
                wrapping: [1: fixture.wrappingKey, 2: new], index: [1: fixture.indexKey])
            let counts = try await fixture.store.write { transaction -> [[Int: Int]] in
                let upkeep = BanMaintenance(transaction)
                var counts = [try upkeep.countByVersion()]
                // One at a time, as a rotation bounds its transactions.
                while try upkeep.rewrap(limit: 1, keys: both) > 0 { counts.append(try upkeep.countByVersion()) }
                return counts
            }
            #expect(counts == [[1: 2], [1: 1, 2: 1], [2: 2]])
            let newOnly = try PersonalKeys(wrapping: [2: new], index: [1: fixture.indexKey])
            let notes = try await fixture.store.read { transaction in
                try BanMaintenance.Note.allCases.map {
                    try BanMaintenance(transaction).note($0, of: ban.id, keys: newOnly)
                }
            }
            #expect(notes == ["first", "second"])
        }
    }
}
