import Database
import Domain
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

@Suite("What is held on a person")
struct PersonTests {
    private static let stale = Refusal(.sessionChallenged, "")

    @Test("is exported and erased only in a session made or renewed within ten minutes")
    func freshness() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            let alice = try await bench.withPhone("alice", "+14155552671")
            fixture.clock.advance(600)
            #expect(
                try await bench.fixture.context.exportPersonalData(for: alice.session).proved?.phoneNumber
                    == "+14155552671")
            fixture.clock.advance(1)
            await #expect(throws: Self.stale) { try await bench.fixture.context.exportPersonalData(for: alice.session) }
            await #expect(throws: Self.stale) { try await bench.fixture.context.erasePersonalData(for: alice.session) }
            #expect(try await bench.assurance(alice) == .phone)
        }
    }

    @Test("is gone after erasure: rows, key and sessions; the same user is a stranger afterwards")
    func erasure() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            let alice = try await bench.withPhone("alice", "+14155552671")
            let elsewhere = try await bench.phones.person("alice")
            try await bench.show(try .virginia, alice)
            let bob = try await bench.withPhone("bob", "+14155552672")
            try await bench.show(try CardBench.specimen(family: "OTHER"), bob)
            let receipt = try await bench.fixture.context.erasePersonalData(for: alice.session)

            for table in ["authenticated_users", "identity_cards", "phone_verifications", "outbox"] {
                let rows = try await fixture.store.read { transaction in
                    try transaction.query(
                        "SELECT * FROM \(table) WHERE user_id = $1", [.text(alice.session.userID.description)]
                    ).count
                }
                #expect(rows == 0, "\(table)")
            }
            let keys = fixture.personalKeys
            let key = try await fixture.store.read { try DataKeyRepository($0, keys: keys).find(alice.session.userID) }
            #expect(key == nil)
            for session in [alice.session, elsewhere.session] {
                let state = try await fixture.store.read { try SessionRepository($0).find(session.id)?.state }
                #expect(state == .unauthenticated)
            }
            let audited = try await fixture.store.read {
                try $0.first(
                    "SELECT subject FROM audit_entries WHERE id = $1 AND event = 'user_erased'",
                    [.text(receipt.uuidString.lowercased())])?.text(0)
            }
            #expect(audited == "user \(alice.session.userID)")

            #expect(try await bench.assurance(bob) == .phone)
            let stranger = try await bench.phones.person("alice")
            #expect(try await bench.fixture.context.readProfile(stranger.session).proved == nil)
            #expect(try await bench.fixture.context.exportPersonalData(for: stranger.session).cards.isEmpty)
            try await bench.prove("+14155552671", stranger)
            #expect(try await bench.assurance(stranger) == .phone)
        }
    }

    @Test("passes to nobody with the number: the old row is suspended, and begins anew with a new number")
    func reassigned() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            let alice = try await bench.withPhone("alice", "+14155552671")
            try await bench.show(try .virginia, alice)
            let bob = try await bench.withPhone("bob", "+14155552671")
            let old = try await bench.fixture.context.readProfile(alice.session)
            #expect(old.user.assurance == .none)
            #expect(old.proved?.suspended == .phoneReassigned)
            let new = try await bench.fixture.context.readProfile(bob.session)
            #expect(new.user.assurance == .phone)
            #expect(new.proved?.fullName == nil && new.proved?.documentNumber == nil)
            try await bench.prove("+14155552679", alice)
            let again = try await bench.fixture.context.readProfile(alice.session)
            #expect(again.user.assurance == .phone)
            #expect(again.proved?.suspended == nil && again.proved?.fullName == nil)
        }
    }

    @Test("is shown to admins with a reason, which the audit log keeps with their name")
    func administration() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            let alice = try await bench.withPhone("alice", "+14155552671")
            let address = fixture.registration.provider.address(of: "alice")
            for name in [alice.session.userID.description, address] {
                #expect(try await bench.admin.readUser(name).user.id == alice.session.userID)
            }
            let held = try await bench.admin.exportUser(address, reason: "request-7")
            #expect(held.proved?.phoneNumber == "+14155552671")
            await #expect(throws: Refusal(.notFound, "")) { try await bench.admin.readUser("nobody/alice") }
            _ = try await bench.admin.eraseUser(address, reason: "request-8")
            #expect(try await bench.admin.exportUser(address, reason: "request-9").proved == nil)
            let audited = try await fixture.store.read { transaction in
                try transaction.query("SELECT event, reason FROM audit_entries WHERE actor = 'admin test'").map {
                    "\(try $0.text(0)) \(try $0.textOrNull(1) ?? "")"
                }
            }
            for entry in ["personal_data_read request-7", "user_erased request-8", "personal_data_read request-9"] {
                #expect(audited.contains(entry))
            }
        }
    }

    @Test("is told to its provider as ages and initials, and only while the level holds")
    func provider() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            let alice = try await bench.withPhone("alice", "+14155552671")
            let provider = fixture.registration.provider.id
            let before = try await fixture.context.readUserClaims("alice", of: provider)
            #expect(before.isOver(18) == nil && before.initials == nil)
            var young = try CardSpecimen.virginia
            young.birth = CardSpecimen.day(2007, 6, 6)
            young.expiry = CalendarDate(utcDayOf: fixture.clock.now + 86_400)
            try await bench.show(young, alice)
            let known = try await fixture.context.readUserClaims("alice", of: provider)
            #expect(known.user.assurance == .barcode)
            #expect(known.isOver(18) == true && known.isOver(21) == false)
            #expect(known.initials == "MS")
            fixture.clock.advance(3 * 86_400)
            let lapsed = try await fixture.context.readUserClaims("alice", of: provider)
            #expect(lapsed.user.assurance == .phone)
            #expect(lapsed.isOver(18) == nil && lapsed.initials == nil)
        }
    }

    @Test("is found by its own provider by user id, until the erasure")
    func byUserID() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            let alice = try await bench.withPhone("alice", "+14155552671")
            let (id, provider) = (alice.session.userID.description, fixture.registration.provider.id)
            let found = try await fixture.context.readUserClaims(of: id, at: provider)
            #expect(found.user.externalID == "alice" && found.user.assurance == .phone)
            for (text, caller) in [(id, ProviderID(UUID())), ("alice", provider), (UUID().uuidString, provider)] {
                await #expect(throws: Refusal(.notFound, "")) {
                    try await fixture.context.readUserClaims(of: text, at: caller)
                }
            }
            _ = try await fixture.context.erasePersonalData(for: alice.session)
            await #expect(throws: Refusal(.notFound, "")) {
                try await fixture.context.readUserClaims(of: id, at: provider)
            }
        }
    }
}
