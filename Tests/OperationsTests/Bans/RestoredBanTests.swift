import Database
import Domain
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

/// A backup, then bans and lifts, then the backup in the store's place.
@Suite("Bans across a restore")
struct RestoredBanTests {
    private static let banned = Refusal(.userBanned, "", banReason: Ban.Reason(rawValue: "spam"))

    /// Lets something happen behind a backup, restores, and hands over the fixture on the restored copy.
    private func restore(
        _ confirmation: IssuerConfirmation = .unanswered, before: (BanBench) async throws -> Void,
        since: (BanBench) async throws -> Void, then: (BanBench, RestoreStore.Report) async throws -> Void
    ) async throws {
        try await ServiceFixture.run(on: .sqlite) { fixture in
            try await withTemporaryDirectory { directory in
                let bench = try BanBench(fixture, confirmation: confirmation)
                try await before(bench)
                let path = try #require(
                    try await fixture.store.read {
                        try $0.first("SELECT file FROM pragma_database_list WHERE name = 'main'")?.text(0)
                    })
                let copy = directory.appending(path: "copy.db").path
                try SQLiteMaintenance(path: path).backup(to: copy)
                fixture.clock.advance(60)
                try await since(bench)
                let clock = fixture.clock
                let restored = try SQLiteDatabase(path: copy, clock: { clock.now })
                let report = try await RestoreStore(
                    restored: restored, replaced: fixture.store, keys: fixture.personalKeys,
                    environment: Environment(now: { clock.now }), actor: "admin test")(reason: nil)
                let moved = try await fixture.moved(to: restored)
                try await then(try BanBench(moved, confirmation: confirmation), report)
                try await restored.close()
            }
        }
    }

    @Test("hold the user, with number and document, and a device with its keys; a lift is a lift again")
    func replay() async throws {
        var people: [String: PhoneBench.Person] = [:]
        let number = "+14155552671"
        try await restore(.confirmed) { bench in
            for (index, name) in ["alice", "bob", "carol", "dora"].enumerated() {
                people[name] = try await bench.phones.person(name)
                try await bench.prove(index == 0 ? number : "+1415555268\(index)", try #require(people[name]))
            }
            try await bench.show(try #require(people["alice"]))
            try await bench.ban(.user("test/carol"))
        } since: { bench in
            try await bench.ban(.user("test/alice"), note: "seen by many")
            try await bench.ban(try bench.phone("+14155552699"))
            try await bench.ban(try BanTarget.document(reading: "VA:T64235780"))
            try await bench.ban(.device(try #require(people["dora"]).session.deviceID))
            _ = try await bench.admin.liftBans(on: .user("test/carol"), note: "a mistake")
        } then: { bench, report in
            let fixture = bench.fixture
            #expect(report.bans == 5)
            #expect(report.sessionsEnded == 3)
            let (alice, bob) = (try #require(people["alice"]), try #require(people["bob"]))
            let (carol, dora) = (try #require(people["carol"]), try #require(people["dora"]))
            // By name.
            let connection = try await fixture.connect(alice.connection.thumbprint)
            await #expect(throws: Self.banned) { try await fixture.opened("alice", on: connection) }
            let note = try await bench.admin.banHistory(of: .user("test/alice")).first
            #expect(try await bench.admin.readBan(try #require(note?.ban.id)).note == "seen by many")
            // By number and document, of any provider's new user.
            let stranger = try await bench.stranger("eve")
            #expect(try await bench.prove(number, stranger).isBanned)
            #expect(try await bench.prove("+14155552699", stranger).isBanned)
            #expect(try await !bench.prove("+14155552698", stranger).isBanned)
            for document in ["T64225789", "T64235780"] {
                await #expect(throws: Refusal(.userBanned, "")) {
                    try await bench.show(stranger) { $0.number = document }
                }
            }
            // By device: its certificate, its name, and its key.
            await #expect(throws: Refusal(.certificateRevoked, "")) {
                try await fixture.connect(dora.connection.thumbprint)
            }
            await #expect(throws: Refusal(.invalidCSR, "", reason: .keyRevoked)) {
                try await fixture.certify(try fixture.request(wishing: dora.session.deviceID.description))
            }
            #expect(try await bench.count("ban_holds", where: "kind = 'device_key'") == 1)
            // Who was lifted signs in anew, and who was never banned.
            for (name, person) in [("carol", carol), ("bob", bob)] {
                _ = try await fixture.opened(name, on: try await fixture.connect(person.connection.thumbprint))
            }
            await #expect(throws: Refusal(.conflict, "")) {
                try await bench.admin.liftBan(
                    try #require(try await bench.admin.banHistory(of: .user("test/carol")).first).ban.id, note: "again")
            }
            #expect(try await bench.count("audit_entries", where: "detail = 'again after a restore'") == 5)
        }
    }

    @Test("hold a user whom the backup does not know yet, who signs in under the provider's name as before")
    func newcomer() async throws {
        var newcomer: UserID?
        try await restore { _ in
        } since: { bench in
            newcomer = try await bench.phones.person("late").session.userID
            try await bench.ban(.user("test/late"))
        } then: { bench, _ in
            let device = try await bench.fixture.connectNewDevice()
            await #expect(throws: Self.banned) { try await bench.fixture.opened("late", on: device) }
            let known = try await bench.fixture.store.read { [id = bench.fixture.registration.provider.id] in
                try UserRepository($0).find(providerID: id, externalID: "late")?.id
            }
            #expect(known == newcomer)
            _ = try await bench.admin.liftBans(on: .user("test/late"), note: "lifted")
            #expect(try await bench.fixture.opened("late", on: device).session.userID == newcomer)
        }
    }

    @Test("hold whoever has a banned number in the backup, though another person had it when it was banned")
    func earlierHolder() async throws {
        let number = "+14155552671"
        try await restore { bench in
            try await bench.prove(number, try await bench.phones.person("alice"))
            _ = try await bench.phones.person("bob")
        } since: { bench in
            try await bench.prove(number, try await bench.phones.person("bob"))
            let done = try await bench.ban(try bench.phone(number))
            #expect(done.impact.users.map(\.user.externalID) == ["bob"])
        } then: { bench, _ in
            for name in ["alice", "bob"] {
                let device = try await bench.fixture.connectNewDevice()
                await #expect(throws: Self.banned, "\(name)") { try await bench.fixture.opened(name, on: device) }
            }
        }
    }

    @Test("keep what stands of an erased person until they are over, also where the backup never knew that person")
    func erased() async throws {
        var old: PhoneBench.Person?
        try await restore { bench in
            let person = try await bench.phones.person("old")
            try await bench.prove("+14155552671", person)
            old = person
        } since: { bench in
            let new = try await bench.phones.person("new")
            try await bench.prove("+14155552672", new)
            for person in [try #require(old), new] {
                try await bench.ban(.user("test/\(person.session.externalID)"), note: "of a person")
                _ = try await bench.fixture.context.erasePersonalData(of: person.session.userID, on: person.connection)
            }
        } then: { bench, report in
            #expect(report.erased == 1)
            let stranger = try await bench.stranger("eve")
            for number in ["+14155552671", "+14155552672"] {
                #expect(try await bench.prove(number, stranger).isBanned)
            }
            #expect(try await bench.count("bans", where: "sealed_note IS NOT NULL") == 0)
            for name in ["old", "new"] { _ = try await bench.admin.liftBans(on: .user("test/\(name)"), note: "over") }
            #expect(try await bench.count("ban_holds") == 0)
        }
    }

    @Test("take permissions and requests with them again, and a lift since the backup gives none back")
    func authorizations() async throws {
        var ids: [String] = []
        func service(_ fixture: ServiceFixture) -> Service {
            fixture.context(rateLimiting: .off)
        }
        try await restore { bench in
            let (alice, bob, carol) = (
                try await bench.phones.person("alice"), try await bench.phones.person("bob"),
                try await bench.phones.person("carol")
            )
            for (index, person) in [alice, bob, carol].enumerated() {
                try await bench.prove("+1415555267\(index)", person)
                try await bench.show(person) {
                    $0.number = "T6423578\(index)"
                    $0.family = ["ADAMS", "BAKER", "CLARK"][index]
                }
            }
            for (requester, asked) in [(alice, "test/bob"), (carol, "test/bob"), (carol, "test/alice")] {
                ids.append(
                    try await service(bench.fixture).requestPermission(
                        try .init(id: UUID().uuidString, to: asked, eventID: nil), for: requester.session
                    ).description)
            }
        } since: { bench in
            try await bench.ban(.user("test/alice"), .messaging)
            try await bench.ban(.user("test/carol"))
            _ = try await bench.admin.liftBans(on: .user("test/carol"), note: "a mistake")
        } then: { bench, _ in
            _ = try await bench.admin.liftBans(on: .user("test/alice"), note: "later")
            let states = try await bench.fixture.store.read { [ids] transaction in
                try ids.map { id in
                    try AuthorizationID(id[...]).flatMap { try AuthorizationRepository(transaction).find($0)?.state }
                }
            }
            #expect(states == [.banned, .banned, .banned])
        }
    }

    @Test("give no value back to nonces and export tokens of before; those of after open what they should")
    func generation() async throws {
        var (identity, token) = ("", "")
        var alice: PhoneBench.Person?
        try await restore { bench in
            let person = try await bench.phones.person("alice")
            alice = person
            try await bench.ban(.user("test/alice"))
            let refusal = await #expect(throws: Self.banned) {
                try await bench.fixture.opened("alice", on: person.connection)
            }
            token = try #require(refusal?.exportToken).reveal()
            identity = try bench.fixture.identityToken("bob", on: person.connection)
            #expect(try bench.fixture.context.admitExportToken(token, on: person.connection) == person.session.userID)
        } since: { _ in
        } then: { bench, _ in
            let fixture = bench.fixture
            let connection = try await fixture.connect(try #require(alice).connection.thumbprint)
            #expect(throws: Refusal(.sessionRequired, "")) {
                try fixture.context.admitExportToken(token, on: connection)
            }
            await #expect(throws: Refusal(.invalidIdentityToken, "", reason: .nonceUnknown)) {
                try await fixture.context.openSession(identityToken: identity, applicationID: nil, on: connection)
            }
            _ = try await fixture.opened("bob", on: connection)
            let refusal = await #expect(throws: Self.banned) { try await fixture.opened("alice", on: connection) }
            let new = try #require(refusal?.exportToken).reveal()
            let holder = try fixture.context.admitExportToken(new, on: connection)
            #expect(try await fixture.context.exportPersonalData(of: holder, on: connection).address == "test/alice")
        }
    }
}
