import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

@Suite("Several bans on one subject")
struct RepeatedBanTests {
    @Test("Repeating a ban is refused while the first one forbids as much, however long the second lasts")
    func twice() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            _ = try await bench.phones.person("alice")
            let first = try await bench.ban(.user("test/alice"), for: 60).ban
            for seconds: TimeInterval? in [30, 60, 120, nil] {
                let refusal = await #expect(throws: Refusal.self) {
                    try await bench.ban(.user("test/alice"), for: seconds)
                }
                #expect(refusal?.state == "active" && refusal?.code == .conflict)
                #expect(refusal?.detail.contains(first.id.description) == true, "\(refusal?.detail ?? "")")
            }
            #expect(try await bench.count("bans") == 1)
            fixture.clock.advance(60)
            try await bench.ban(.user("test/alice"), .messaging, for: 60)
            try await bench.ban(.user("test/alice"), for: 60)
            #expect(try await bench.admin.liftBans(on: .user("test/alice"), note: "both").count == 2)
            await #expect(throws: Refusal(.notFound, "")) { try await bench.ban(.user("test/nobody")) }
            await #expect(throws: Refusal(.notFound, "")) {
                try await bench.ban(.user(UUID().uuidString.lowercased()))
            }
        }
    }

    @Test("A ban takes the place of the one in force where that is asked for, and nobody is free between")
    func replacing() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            let connection = try await fixture.connectNewDevice()
            _ = try await fixture.opened("alice", on: connection)
            let provider = fixture.registration.provider.id
            try await fixture.store.write {
                try ProviderWebhookRepository($0).set("https://receiver.invalid/", of: provider)
            }
            let first = try await bench.ban(.user("test/alice"), for: 60).ban
            let order = try bench.order(.user("test/alice"), for: 30, withDevices: true, replaces: true)
            #expect(try await bench.admin.previewBan(order).replaced == [first])
            #expect(try await bench.admin.listBans(isActive: true, limit: 10).map(\.ban.id) == [first.id])
            let second = try await bench.ban(order, upTo: 1)
            #expect(second.impact.replaced == [first])
            #expect(try await bench.admin.listBans(isActive: true, limit: 10).map(\.ban.id) == [second.ban.id])
            #expect(try await bench.admin.readBan(first.id).liftNote == "replaced by ban \(second.ban.id)")
            #expect(try await bench.count("audit_entries", where: "event = 'ban_lifted'") == 1)
            try await fixture.watch.poll()
            #expect(try await fixture.context.readUserClaims("alice", of: provider).isBanned)
            #expect(try await bench.count("users", where: "external_id = 'alice' AND held = 1") == 1)
            let events = try await fixture.store.read { transaction in
                try transaction.query("SELECT payload FROM outbox").map { ProviderEvent(jsonText: try $0.bytes(0)) }
            }
            #expect(events.contains { if case .accountDisabled = $0 { true } else { false } })
            #expect(!events.contains { if case .accountEnabled = $0 { true } else { false } })
            fixture.clock.advance(31)
            _ = try await fixture.opened("bob", on: try await fixture.connectNewDevice())
            _ = try await fixture.opened("alice", on: try await fixture.connectNewDevice())
        }
    }

    @Test("A lift says which bans still hold the same person: by number, by another scope, and none at the end")
    func remaining() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            let alice = try await bench.phones.person("alice")
            try await bench.prove("+14155552671", alice)
            let number = try await bench.ban(try bench.phone("+14155552671")).ban
            fixture.clock.advance(1)
            let messaging = try await bench.ban(.user("test/alice"), .messaging).ban
            fixture.clock.advance(1)
            let named = try await bench.ban(.user("test/alice"), for: 600).ban
            // A stranger's ban holds nobody else.
            _ = try await bench.stranger("mallory")
            try await bench.ban(.user("other-mallory/mallory"))
            let first = try await bench.admin.liftBan(named.id, note: "a mistake")
            #expect(try await fixture.admin.remainingBans(after: [first]).map(\.id) == [messaging.id, number.id])
            let second = try await bench.admin.liftBan(number.id, note: "passed on")
            #expect(try await fixture.admin.remainingBans(after: [second]).map(\.id) == [messaging.id])
            let third = try await bench.admin.liftBan(messaging.id, note: "enough")
            #expect(try await fixture.admin.remainingBans(after: [third]).isEmpty)
        }
    }
}
