import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

@Suite("The history of a user")
struct UserHistoryTests {
    private static func ban(_ user: Session, in fixture: ServiceFixture) async throws {
        let order = try BanOrder(
            target: .user(user.userID.description), scope: .all, reason: try #require(Ban.Reason(rawValue: "spam")),
            note: nil, endsAt: nil, withDevices: false)
        _ = try await fixture.admin.addBan(order, by: fixture.policy[\.bans], upTo: nil)
    }

    @Test("has everything in one order, page by page, and no personal data", arguments: StoreKind.shared)
    func pages(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let bench = try CardBench(fixture)
            let alice = try await bench.withPhone("alice", "+14155552671")
            fixture.clock.advance(1)
            try await bench.show(try .virginia, alice)
            fixture.clock.advance(1)
            try await Self.ban(alice.session, in: fixture)
            fixture.clock.advance(1)
            await #expect(throws: Refusal.self) { _ = try await bench.phones.person("alice") }
            try await WriteSignIns(fixture.context)()
            let address = fixture.registration.provider.address(of: "alice")
            let whole = try await fixture.admin.readHistory(of: address, limit: 1000)
            #expect(Set(whole.events.map(\.kind)) == Set(UserEvent.Kind.allCases))
            #expect(whole.events.map(\.at) == whole.events.map(\.at).sorted(by: >))
            // A card is decided in the millisecond in which it is shown, and is submitted first.
            let steps = whole.events.filter { $0.kind == .card }.map(\.what)
            #expect(steps.count == 2 && steps[0].hasSuffix("verified") && steps[1].hasSuffix("submitted"), "\(steps)")
            let refused = try #require(whole.events.first { $0.kind == .signIn })
            #expect(refused.code == "user_banned" && refused.reason == "spam" && refused.deviceID != nil)
            #expect(whole.permissions.isEmpty && whole.onlyCounted == (0, 0))
            for event in whole.events {
                for canary in ["4155552671", "SAMPLE", "T64225789"] {
                    #expect(!"\(event)".contains(canary), "\(canary)")
                }
            }

            var (found, cursor, rounds) = ([UserEvent](), String?.none, 0)
            repeat {
                let page = try await fixture.admin.readHistory(of: address, limit: 2, after: cursor).events
                found += page
                cursor = page.count < 2 ? nil : page.last?.cursor
                rounds += 1
            } while cursor != nil && rounds < 100
            #expect(found.map(\.id) == whole.events.map(\.id))
            for text in ["", "x", "1.2", "1.2.x", "1..1", "-1.a.0", "1.A.0"] {
                await #expect(throws: Refusal.unknownCursor) {
                    try await fixture.admin.readHistory(of: address, limit: 1, after: text)
                }
            }
        }
    }

    @Test("is summed up with ban, sessions, devices, cards and last use")
    func detail() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            let alice = try await bench.withPhone("alice", "+14155552671")
            try await bench.show(try .virginia, alice)
            let before = try await fixture.admin.readUserDetail(alice.session.userID.description)
            #expect(before.ban == nil && before.sessions.count == 1 && before.suspended == nil && before.devices == 1)
            #expect(before.cards == [.verified: 1] && before.phoneVerifiedAt != nil && before.erasedAt == nil)
            #expect(before.lastUsedAt == fixture.clock.now)
            try await Self.ban(alice.session, in: fixture)
            let after = try await fixture.admin.readUserDetail(alice.session.userID.description)
            #expect(after.ban?.reason.rawValue == "spam" && after.sessions.isEmpty)
            _ = try await fixture.admin.eraseUser(alice.session.userID.description, reason: "request-1")
            #expect(try await fixture.admin.readUserDetail(alice.session.userID.description).erasedAt != nil)
        }
    }

    @Test("of sign-ins tells whom a key signed in, each session once, also after the sessions were deleted")
    func affected() async throws {
        try await ServiceFixture.run { fixture in
            let connection = try await fixture.connectNewDevice()
            let key = fixture.registration.keyID
            func affected() async throws -> (users: [String], sessions: [SessionID]) {
                var found: [Administration.AffectedSession] = []
                let counts = try await fixture.admin.listAffected(by: [key]) { found += $0 }
                #expect(counts.sessions == found.count && counts.users == Set(found.map(\.userID)).count)
                return (found.map(\.externalID).sorted(), found.map(\.sessionID))
            }
            let alice = try await fixture.opened("alice", on: connection)
            let bob = try await fixture.opened("bob", on: connection)
            // The store has the sessions before it has the attempts.
            #expect(try await affected().users == ["alice", "bob"])
            #expect(try await fixture.admin.listSessions(limit: 9, .key(key)).count == 2)
            try await fixture.context.endSession(try #require(alice.token).text.reveal(), on: connection)
            #expect(try await affected().users == ["alice", "bob"])
            let ended = try await fixture.admin.listEndedSessions(limit: 9, .key(key))
            #expect(ended.map(\.session.id) == [alice.session.id])
            #expect(ended.first?.endReason == SessionEnding.byUser.text)
            let late = fixture.clock.now.addingTimeInterval(1)
            #expect(try await fixture.admin.listEndedSessions(limit: 9, .key(key), since: late).isEmpty)
            #expect(try await fixture.admin.listSessions(limit: 9, .key(key), since: late).isEmpty)
            await #expect(throws: Refusal.endedByUserOrDevice) {
                try await fixture.admin.listEndedSessions(limit: 9, .device(alice.session.deviceID))
            }
            await #expect(throws: Refusal(.notFound, "")) {
                try await fixture.admin.listEndedSessions(limit: 9, .key(ProviderKeyID(UUID())))
            }
            try await WriteSignIns(fixture.context)()
            #expect(try await affected().users == ["alice", "bob"])
            fixture.clock.advance(10 * 86_400)
            try await fixture.housekeeping()
            let found = try await affected()
            #expect(found.users == ["alice", "bob"])
            #expect(Set(found.sessions) == [alice.session.id, bob.session.id])
        }
    }
}

@Suite("The history of a user for its provider")
struct ProviderUserHistoryTests {
    @Test("has sign-ins, sessions and devices of that user alone, page by page", arguments: StoreKind.shared)
    func pages(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let provider = fixture.registration.provider.id
            let connection = try await fixture.connectNewDevice()
            let bob = try await fixture.opened("bob", on: connection).session
            var sessions: Set<SessionID> = []
            for index in 0..<30 {
                fixture.clock.advance(60)
                let device = index.isMultiple(of: 2) ? connection : try await fixture.connectNewDevice()
                sessions.insert(try await fixture.opened("alice", on: device).session.id)
            }
            try await WriteSignIns(fixture.context)()
            let first = try await fixture.context.readUserHistory("alice", of: provider, after: nil)
            #expect(first.events.count == Service.ProviderUserHistory.size && first.devices.count == 16)
            let second = try await fixture.context.readUserHistory("alice", of: provider, after: first.cursor)
            #expect(second.events.count == 60 - Service.ProviderUserHistory.size && second.cursor == nil)
            #expect(second.devices.isEmpty)
            let events = first.events + second.events
            #expect(events.map(\.place.at) == events.map(\.place.at).sorted(by: >))
            var (attempts, opened) = (Set<SessionID>(), Set<SessionID>())
            for event in events {
                switch event {
                case .signIn(let attempt): attempts.formUnion([attempt.sessionID].compactMap(\.self))
                case .session(let past, _): opened.insert(past.session.id)
                }
            }
            #expect(attempts == sessions && opened == sessions && !opened.contains(bob.id))
            for (name, cursor) in [("alice", "x"), ("alice", "AAAA"), ("alice", "")] {
                await #expect(throws: Refusal.unknownCursor) {
                    try await fixture.context.readUserHistory(name, of: provider, after: cursor)
                }
            }
            for (name, caller) in [("nobody", provider), ("alice", ProviderID(UUID()))] {
                await #expect(throws: Refusal(.notFound, "")) {
                    try await fixture.context.readUserHistory(name, of: caller, after: nil)
                }
            }
        }
    }

    @Test("begins anew after an erasure")
    func erased() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            let provider = fixture.registration.provider.id
            let alice = try await bench.withPhone("alice", "+14155552671")
            try await WriteSignIns(fixture.context)()
            fixture.clock.advance(1)
            _ = try await fixture.context.erasePersonalData(for: alice.session)
            let gone = try await fixture.context.readUserHistory("alice", of: provider, after: nil)
            #expect(gone.events.isEmpty && gone.devices.isEmpty)
            fixture.clock.advance(1)
            _ = try await bench.phones.person("alice")
            try await WriteSignIns(fixture.context)()
            #expect(try await fixture.context.readUserHistory("alice", of: provider, after: nil).events.count == 2)
        }
    }
}
