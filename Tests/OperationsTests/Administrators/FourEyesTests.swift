import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

@Suite("An act that needs a second administrator")
struct FourEyesTests {
    /// Two administrators with the role security, and one of support.
    private struct Bench {
        let fixture: ServiceFixture

        func admin(_ name: String, over limit: Int = 1) async throws -> Administration {
            let all = try await fixture.admin.listAdministrators().map { $0.administrator }
            let administrator = try #require(all.first { $0.name == name })
            let keys = fixture.personalKeys
            return Administration(
                store: fixture.store, environment: fixture.admin.environment, actor: "admin \(name)",
                administrator: administrator, fourEyesOver: limit
            ) { keys }
        }

        /// Makes the administrators older, as if an hour had passed since they were added.
        func settle() async throws {
            try await fixture.store.write {
                _ = try $0.execute("UPDATE admins SET created_at = created_at - 3600000", [])
            }
        }

        /// The id of the only act.
        func act() async throws -> WaitingActID {
            let acts = try await fixture.admin.listWaitingActs()
            #expect(acts.count == 1)
            return try #require(acts.first).act.id
        }

        func events(_ name: String) async throws -> [AuditEntry] {
            try await ReadAudit(store: fixture.store).search(ReadAudit.Filter(event: name), count: 9).map(\.entry)
        }
    }

    private static func run(_ body: (Bench) async throws -> Void) async throws {
        try await ServiceFixture.run { fixture in
            for name in ["lena", "ben"] { try await fixture.admin.addAdministrator(name, role: .security) }
            try await fixture.admin.addAdministrator("sam", role: .support)
            let bench = Bench(fixture: fixture)
            try await bench.settle()
            try await body(bench)
        }
    }

    private static func order(_ target: BanTarget, note: String? = nil) throws -> BanOrder {
        try BanOrder(
            target: target, scope: .all, reason: try #require(Ban.Reason(rawValue: "spam")), note: note, endsAt: nil,
            withDevices: false)
    }

    /// A device with sessions of two users.
    private static func device(_ fixture: ServiceFixture) async throws -> DeviceID {
        let connection = try await fixture.connectNewDevice()
        _ = try await fixture.opened("alice", on: connection)
        return try await fixture.opened("bob", on: connection).session.deviceID
    }

    @Test("waits as a row until another one confirms it, whose name is in the audit log beside the first one's")
    func ban() async throws {
        try await Self.run { bench in
            let device = try await Self.device(bench.fixture)
            let (lena, ben) = (try await bench.admin("lena"), try await bench.admin("ben"))
            let refusal = await #expect(throws: Refusal.self) {
                try await lena.addBan(try Self.order(.device(device)), upTo: nil)
            }
            #expect(refusal?.code == .conflict && refusal?.state == "waiting")
            #expect(try await lena.listBans(isActive: false, limit: 9).isEmpty)
            let id = try await bench.act()
            let shown = try #require(try await ben.listWaitingActs().first?.act.ban)
            #expect(shown.kind == .device && shown.scope == .all && shown.endsAt == nil)
            #expect(!shown.withDevices && !shown.replaces)
            await #expect(throws: Refusal.ownWaitingAct) { try await lena.confirmAct(id) }
            let sam = try await bench.admin("sam")
            await #expect(throws: Refusal(.insufficientScope, "")) { try await sam.confirmAct(id) }
            try await ben.confirmAct(id, note: "three reports")
            let ban = try #require(try await ben.listBans(isActive: true, limit: 9).first).ban
            #expect(ban.actor == "admin ben")
            #expect(try await ben.readBan(ban.id).note == "three reports")
            #expect(try await ben.listSessions(limit: 9).isEmpty)
            #expect(try await bench.events("act_requested").map(\.actor) == ["admin lena"])
            let confirmed = try #require(try await bench.events("act_confirmed").first)
            #expect(confirmed.actor == "admin ben" && confirmed.detail?.hasSuffix("requested by lena") == true)
            await #expect(throws: Refusal(.notFound, "")) { try await ben.confirmAct(id) }
        }
    }

    @Test("is a ban of more users than the limit, an erasure, or the disabling of a provider")
    func kinds() async throws {
        try await Self.run { bench in
            let device = try await Self.device(bench.fixture)
            let (lena, ben) = (try await bench.admin("lena"), try await bench.admin("ben"))
            // Two users are not more than two, and one is not more than one.
            _ = try await bench.admin("lena", over: 2).addBan(try Self.order(.device(device)), upTo: nil)
            _ = try await lena.addBan(try Self.order(.user("test/alice"), note: "finding"), upTo: nil)
            await #expect(throws: Refusal(.conflict, "")) { try await lena.eraseUser("test/bob", reason: "ticket:1") }
            #expect(try await lena.readUserDetail("test/bob").erasedAt == nil)
            try await ben.confirmAct(try await bench.act())
            let bob = try #require(try await bench.events("user_erased").first)
            #expect(bob.actor == "admin ben" && bob.reason == "ticket:1")
            await #expect(throws: Refusal(.conflict, "")) { try await lena.disableProvider("test") }
            #expect(try await lena.listProviders().allSatisfy { $0.disabledAt == nil })
            try await ben.confirmAct(try await bench.act())
            #expect(try await lena.listProviders().allSatisfy { $0.disabledAt != nil })
        }
    }

    @Test("takes effect at once if it is urgent, and the others see it for a day")
    func urgent() async throws {
        try await Self.run { bench in
            let device = try await Self.device(bench.fixture)
            let (lena, ben) = (try await bench.admin("lena"), try await bench.admin("ben"))
            _ = try await lena.addBan(try Self.order(.device(device), note: "finding"), upTo: nil, urgency: "ticket:9")
            #expect(try await lena.listBans(isActive: true, limit: 9).count == 1)
            _ = try await lena.disableProvider("test", urgency: "ticket:10")
            let shown = try await ben.listWaitingActs()
            #expect(Set(shown.map(\.act.kind)) == [.ban, .disabling] && shown.allSatisfy { $0.act.isUrgent })
            #expect(shown.allSatisfy { $0.administrator == "lena" })
            let id = try #require(shown.first).act.id
            await #expect(throws: Refusal(.notFound, "")) { try await ben.confirmAct(id) }
            #expect(try await Set(bench.events("act_urgent").map(\.reason)) == ["ticket:9", "ticket:10"])
            bench.fixture.clock.advance(WaitingAct.lifetime)
            #expect(try await ben.listWaitingActs().isEmpty)
        }
    }

    @Test("is refused after a day, if it affects more users meanwhile, or if the first one lost the role")
    func stale() async throws {
        try await Self.run { bench in
            let device = try await Self.device(bench.fixture)
            let (lena, ben) = (try await bench.admin("lena"), try await bench.admin("ben"))
            func ask() async throws -> WaitingActID {
                await #expect(throws: Refusal(.conflict, "")) {
                    try await lena.addBan(try Self.order(.device(device)), upTo: nil)
                }
                return try #require(try await ben.listWaitingActs().first).act.id
            }
            let late = try await ask()
            bench.fixture.clock.advance(WaitingAct.lifetime)
            await #expect(throws: Refusal(.notFound, "")) { try await ben.confirmAct(late) }
            let id = try await ask()
            // The old row is deleted by the new one.
            let rows = try await bench.fixture.store.read { try WaitingActRepository($0).list(after: .distantPast) }
            #expect(rows.map(\.id) == [id])
            let thumbprint = try #require(try await ben.readDevice(device).certificates.first).thumbprint
            try await bench.fixture.watch.poll()
            let connection = try await bench.fixture.connect(thumbprint)
            _ = try await bench.fixture.opened("carol", on: connection)
            let refusal = await #expect(throws: Refusal.self) { try await ben.confirmAct(id) }
            #expect(refusal?.detail.hasPrefix("The act would affect") == true)
            // What was refused waits still.
            try await bench.fixture.admin.removeAdministrator("lena")
            let lost = await #expect(throws: Refusal.self) { try await ben.confirmAct(id) }
            #expect(lost?.detail == Refusal.requesterLostRole("lena").detail)
        }
    }

    @Test("of a number is stored without it, and its finding is given by the second one")
    func number() async throws {
        try await ServiceFixture.run { fixture in
            let bans = try BanBench(fixture)
            for name in ["lena", "ben"] { try await fixture.admin.addAdministrator(name, role: .security) }
            let bench = Bench(fixture: fixture)
            let (lena, ben) = (try await bench.admin("lena"), try await bench.admin("ben"))
            let target = try bans.phone("+14155552671")
            let order = try Self.order(target)
            // No user has the number, so the limit does not apply: the order is stored as if it did.
            let keys = fixture.personalKeys
            let content = try await lena.write(.manage) { transaction, events in
                let ban = Ban(
                    id: BanID(UUID()), kind: .phone, scope: .all, reason: order.reason, actor: "admin lena",
                    createdAt: transaction.now, endsAt: nil, lifted: nil)
                let plan = try lena.look(for: target, because: nil, &events, revealing: { _ in nil }) {
                    try BanPlanner(keys: keys, policy: BanPolicy()).plan(order, as: ban, in: transaction, by: $0)
                }
                return try order.content(plan.get().entries)
            }
            #expect(!content.jsonText.contains("4155552671"))
            let act = WaitingAct(
                id: WaitingActID(UUID()), kind: .ban, subject: "ban", content: content.jsonText, users: 0, reason: nil,
                requestedBy: AdministratorID(UUID()), createdAt: fixture.clock.now, isUrgent: false)
            #expect(act.ban?.kind == .phone && act.ban?.scope == .all)
            let read = try #require(try BanOrder(content: content, note: "finding"))
            _ = try await ben.addBan(read, upTo: nil)
            let refusal = await #expect(throws: Refusal.self) { try await lena.previewBan(order) }
            #expect(refusal?.state == Ban.State.active.rawValue)
            let device = try await Self.device(fixture)
            await #expect(throws: Refusal.noteOfWaitingBan) {
                try await lena.addBan(try Self.order(.device(device), note: "finding"), upTo: nil)
            }
            #expect(try await ben.listWaitingActs().isEmpty)
        }
    }

    @Test("does not wait if nobody could confirm it, if policy does not ask for it, or for an account with all rights")
    func exempt() async throws {
        try await Self.run { bench in
            let lena = try await bench.admin("lena")
            _ = try await bench.admin("lena", over: 0).eraseUser(Self.user("a", bench), reason: "ticket:1")
            _ = try await bench.fixture.admin.eraseUser(Self.user("b", bench), reason: "ticket:1")
            try await bench.fixture.admin.removeAdministrator("ben")
            let user = try await Self.user("c", bench)
            #expect(try await lena.listWaitingActs().isEmpty)
            // Otherwise lena could remove ben and act alone at once.
            await #expect(throws: Refusal(.conflict, "")) { try await lena.eraseUser(user, reason: "ticket:1") }
            bench.fixture.clock.advance(3600)
            _ = try await lena.eraseUser(user, reason: "ticket:1")
            #expect(try await bench.events("user_erased").count == 3)
        }
    }

    @Test("is not confirmed by an administrator who was added less than an hour before it")
    func addedLately() async throws {
        try await Self.run { bench in
            let lena = try await bench.admin("lena")
            try await lena.addAdministrator("eve", role: .security)
            await #expect(throws: Refusal(.conflict, "")) { try await lena.disableProvider("test") }
            let (id, eve) = (try await bench.act(), try await bench.admin("eve"))
            let refusal = await #expect(throws: Refusal.self) { try await eve.confirmAct(id) }
            #expect(refusal?.detail == Refusal.newSecondAdministrator.detail)
            try await bench.admin("ben").confirmAct(id)
        }
    }

    @Test(
        "is needed for an hour after the others lost the role, and no administrator gets all rights by another account")
    func changedAdministrators() async throws {
        try await Self.run { bench in
            let (lena, all) = (try await bench.admin("lena"), bench.fixture.admin)
            try await lena.removeAdministrator("ben")
            let role = await #expect(throws: Refusal.self) { try await lena.addAdministrator("ben", role: .support) }
            #expect(role?.detail == Refusal.recentlyRemoved("ben").detail)
            await #expect(throws: Refusal(.conflict, "")) { try await lena.disableProvider("test") }
            bench.fixture.clock.advance(3600)
            try await lena.addAdministrator("ben", role: .support, account: "bn")
            try await lena.removeAdministrator("ben")
            let account = await #expect(throws: Refusal.self) {
                try await lena.addAdministrator("ben", role: .security, account: "other")
            }
            #expect(account?.detail == Refusal.accountStaysMapped("ben", "bn").detail)
            try await lena.addAdministrator("ben", role: .security, account: "bn")
            try await lena.removeAdministrator("ben")
            // An account with all rights may.
            #expect(try await all.addAdministrator("ben", role: .support, account: "other").account == "other")
        }
    }

    private static func user(_ name: String, _ bench: Bench) async throws -> String {
        let connection = try await bench.fixture.connectNewDevice()
        return try await bench.fixture.opened(name, on: connection).session.userID.description
    }

    @Test("is known wherever an administrator's operations are made: the policy's limit is passed on")
    func sources() throws {
        let made = try SourceFile.all(below: "Sources").filter {
            $0.text.contains(/[^.]\bAdministration\(\n?[^)]*actor:/)
        }
        let forgotten = made.filter { $0.text.contains("administrator: ") && !$0.text.contains("fourEyesOver: ") }
        #expect(!made.isEmpty && forgotten.map(\.path) == [])
    }
}
