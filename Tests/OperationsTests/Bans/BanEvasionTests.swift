import Crypto
import Database
import Domain
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

@Suite("Evading a ban")
struct BanEvasionTests {
    private static let number = "+14155552671"
    private static let banned = Refusal(.userBanned, "")

    @Test("by a new user of any provider fails at the number: after the right code, as long as policy says")
    func number() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            try await bench.prove(Self.number, try await bench.phones.person("alice"))
            try await bench.ban(.user("test/alice"))
            let fresh = [try await bench.phones.person("bob"), try await bench.stranger("carol")]
            for person in fresh {
                let id = try await bench.phones.begin(Self.number, person).id
                let code = bench.phones.code(id, Self.number, person)
                let wrong = try await bench.phones.context.checkPhoneVerification(
                    id.description, code: bench.phones.wrong(code), for: person.session)
                #expect(throws: Refusal(.verificationFailed, "")) { try wrong.requireRight() }
                let right = try await bench.phones.context.checkPhoneVerification(
                    id.description, code: code, for: person.session)
                let refusal = #expect(throws: Refusal.self) { try right.requireRight() }
                // Nothing of alice's ban is told to who may merely have got her number.
                #expect(refusal == Self.banned && refusal?.until == nil && refusal?.exportToken == nil)
                let again = try await bench.phones.context.checkPhoneVerification(
                    id.description, code: code, for: person.session)
                #expect(throws: Self.banned) { try again.requireRight() }
                let level = try await fixture.store.read {
                    try UserRepository($0).find(person.session.userID)?.assurance
                }
                #expect(level == Assurance.none)
            }
            #expect(try await bench.count("audit_entries", where: "event = 'ban_evaded'") == 2)
            fixture.clock.advance(180 * 86_400)
            let later = try await bench.phones.person("bob")
            try await bench.prove(Self.number, later).requireRight()
            // The user's own ban goes on.
            await #expect(throws: Refusal(.userBanned, "", banReason: Ban.Reason(rawValue: "spam"))) {
                try await fixture.opened("alice", on: later.connection)
            }
        }
    }

    @Test("is no way round a ban on a number: it hits whoever has proven it, and a suspended holder not")
    func holders() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            let alice = try await bench.phones.person("alice")
            let bob = try await bench.phones.person("bob")
            let carol = try await bench.stranger("carol")
            try await bench.prove(Self.number, alice)
            try await bench.prove(Self.number, bob)
            try await bench.prove(Self.number, carol)
            let done = try await bench.ban(try bench.phone("(415) 555-2671".replacing("(", with: "+1 (")))
            #expect(Set(done.impact.users.map(\.user.id)) == [bob.session.userID, carol.session.userID])
            await #expect(throws: Refusal(.userBanned, "", banReason: Ban.Reason(rawValue: "spam"))) {
                try await fixture.opened("bob", on: bob.connection)
            }
            _ = try await fixture.opened("alice", on: alice.connection)
            #expect(try await bench.admin.banHistory(of: .user("test/bob")).count == 1)
            await #expect(throws: Refusal(.notFound, "")) {
                try await bench.admin.liftBans(on: .user("test/bob"), note: "no")
            }
            _ = try await bench.admin.liftBans(on: try bench.phone(Self.number), note: "yes")
            _ = try await fixture.opened("bob", on: bob.connection)
        }
    }

    @Test("is noticed at sign-in by the number alone, should it have been proven in the very moment of the ban")
    func race() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            let alice = try await bench.phones.person("alice")
            try await bench.prove(Self.number, alice)
            let done = try await bench.ban(try bench.phone(Self.number))
            try await fixture.store.write { transaction in
                _ = try transaction.execute(
                    "DELETE FROM ban_holds WHERE kind = 'user' AND ban_id = $1", [.text(done.ban.id.description)])
            }
            await #expect(throws: Refusal(.userBanned, "", banReason: Ban.Reason(rawValue: "spam"))) {
                try await fixture.opened("alice", on: alice.connection)
            }
        }
    }

    @Test("by a clock that was an hour ahead is over when the clock is set right")
    func clock() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            let alice = try await bench.phones.person("alice")
            let spam = Ban.Reason(rawValue: "spam")
            try await bench.ban(.user("test/alice"), for: 600)
            fixture.clock.advance(3600)
            _ = try await fixture.opened("alice", on: alice.connection)
            fixture.clock.advance(-3600)
            await #expect(throws: Refusal(.userBanned, "", banReason: spam)) {
                try await fixture.opened("alice", on: alice.connection)
            }
            fixture.clock.advance(601)
            _ = try await fixture.opened("alice", on: alice.connection)
        }
    }

    @Test("by the same document fails from the level on at which its issuer confirmed it, and never below")
    func document() async throws {
        var policy = Policy()
        policy.cards.reviewedChecks = []
        for (confirmation, isHeld) in [(IssuerConfirmation.unanswered, false), (.confirmed, true)] {
            try await ServiceFixture.run(policy) { fixture in
                let bench = try BanBench(fixture, confirmation: confirmation)
                let alice = try await bench.phones.person("alice")
                try await bench.prove(Self.number, alice)
                #expect(try await bench.show(alice).assurance == (isHeld ? .issuerChecked : .barcode))
                let done = try await bench.ban(.user("test/alice"))
                #expect(done.impact.holdsDocument == isHeld)
                let bob = try await bench.stranger("bob")
                try await bench.prove("+14155552672", bob)
                if isHeld {
                    let refusal = await #expect(throws: Refusal.self) {
                        try await bench.show(bob) { $0.number = "t64-225 789" }
                    }
                    #expect(refusal == Self.banned && refusal?.until == nil)
                    #expect(try await bench.count("identity_cards") == 1)
                } else {
                    try await bench.show(bob)
                }
                try await bench.show(bob) { $0.number = "T64235780" }
            }
        }
    }

    @Test("with a document that is banned while a reviewer has it ends with the reviewer; a holder of it is hit")
    func reviewed() async throws {
        var policy = Policy()
        policy.cards.reviewedChecks = ["issuer_confirmation"]
        try await ServiceFixture.run(policy) { fixture in
            let verifying = try BanBench(fixture)
            let alice = try await verifying.phones.person("alice")
            try await verifying.prove(Self.number, alice)
            try await verifying.show(alice)
            let reviewed = try BanBench(fixture, confirmation: .contradicted(["name"]))
            let bob = try await verifying.stranger("bob")
            try await verifying.prove("+14155552672", bob)
            let waiting = try await reviewed.show(bob)
            #expect(waiting.status == .inReview)
            let done = try await verifying.ban(try BanTarget.document(reading: "VA:T64225789"))
            #expect(done.impact.users.map(\.user.id) == [alice.session.userID])
            await #expect(throws: Refusal(.conflict, "")) {
                try await reviewed.admin.approveCard(waiting.id, reason: "looks good")
            }
            await #expect(throws: Refusal(.userBanned, "", banReason: Ban.Reason(rawValue: "spam"))) {
                try await fixture.opened("alice", on: alice.connection)
            }
        }
    }

    /// Whether the number is found banned by a process with these keys.
    private func isBanned(_ number: String, _ keys: PersonalKeys, _ bench: BanBench) async throws -> Bool {
        let person = try await bench.phones.person(UUID().uuidString)
        let id = try await bench.phones.begin(number, person).id
        let outcome = try await bench.fixture.context(keys: keys).checkPhoneVerification(
            id.description, code: bench.phones.code(id, number, person), for: person.session)
        return outcome.isBanned
    }

    /// Bans a number as a process with these keys does.
    private func ban(_ number: String, _ keys: PersonalKeys, _ bench: BanBench) async throws {
        let admin = bench.fixture.admin(keys)
        _ = try await admin.addBan(try bench.order(try bench.phone(number)), upTo: nil)
    }

    @Test("is found by indexes under every version of the key, also one that this process has yet to read")
    func versions() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            let newIndex = SymmetricKey(size: .bits256)
            let newer = try PersonalKeys(wrapping: [1: fixture.wrappingKey], index: [1: fixture.indexKey, 2: newIndex])
            let newest = try PersonalKeys.Versions(
                wrapping: [1: fixture.wrappingKey], index: [1: fixture.indexKey, 2: newIndex])
            let stale = PersonalKeys(
                try .init(wrapping: [1: fixture.wrappingKey], index: [1: fixture.indexKey]), readAgain: { newest })
            // Banned under the first version, looked for when there is a second one.
            try await bench.ban(try bench.phone("+14155552671"))
            #expect(try await isBanned("+14155552671", newer, bench))
            #expect(try await !isBanned("+14155552672", newer, bench))
            // Banned under both, looked for by one that keeps the first.
            try await ban("+14155552674", newer, bench)
            #expect(try await isBanned("+14155552674", fixture.personalKeys, bench))
            // Banned under the second version alone, looked for by a process that has not read it yet.
            let second = try PersonalKeys(wrapping: [1: fixture.wrappingKey], index: [2: newIndex])
            try await ban("+14155552673", second, bench)
            #expect(try await isBanned("+14155552673", stale, bench))
            // Who cannot look for a ban that is in force lets nobody prove a number.
            await #expect(throws: Refusal(.unavailable, "")) {
                try await isBanned("+14155552675", fixture.personalKeys, bench)
            }
        }
    }

    @Test("by having oneself erased fails: the running ban keeps its indexes, and nothing but them until it is over")
    func erasure() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            let alice = try await bench.phones.person("alice")
            try await bench.prove(Self.number, alice)
            let over = try await bench.ban(.user("test/alice"), for: 5, note: "first").ban
            fixture.clock.advance(10)
            let ban = try await bench.ban(.user("test/alice"), for: 3600, note: "second").ban
            let bystander = try await bench.ban(.user(try await bench.stranger("dora").session.userID.description))
            _ = try await fixture.context.erasePersonalData(of: alice.session.userID, on: alice.connection)
            for old in [over, ban] {
                let opened = try await bench.admin.readBan(old.id)
                #expect(opened.note == nil)
                #expect(opened.summary.entries.isEmpty == (old.id == over.id))
            }
            #expect(try await bench.admin.readBan(bystander.ban.id).summary.entries.count == 1)
            // The ban goes on for the name and the number.
            await #expect(throws: Refusal(.userBanned, "", banReason: Ban.Reason(rawValue: "spam"))) {
                try await fixture.opened("alice", on: alice.connection)
            }
            let bob = try await bench.phones.person("bob")
            #expect(try await bench.prove(Self.number, bob).isBanned)
            // When it is over, nothing of the person is left.
            fixture.clock.advance(3600)
            try await Housekeeping(fixture.context)()
            #expect(try await bench.admin.readBan(ban.id).summary.entries.isEmpty)
            #expect(try await !bench.prove(Self.number, try await bench.phones.person("eve")).isBanned)
        }
    }

    @Test("leaves nothing of an erased person behind when the ban is lifted")
    func erasedAndLifted() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            let alice = try await bench.phones.person("alice")
            try await bench.prove(Self.number, alice)
            let ban = try await bench.ban(.user("test/alice")).ban
            _ = try await fixture.context.erasePersonalData(of: alice.session.userID, on: alice.connection)
            #expect(try await bench.count("ban_holds") == 2)
            _ = try await bench.admin.liftBan(ban.id, note: "lifted")
            #expect(try await bench.count("ban_holds") == 0)
            _ = try await fixture.opened("alice", on: alice.connection)
        }
    }
}
