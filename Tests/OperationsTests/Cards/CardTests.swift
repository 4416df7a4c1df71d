import Cards
import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Testing

@testable import Repositories

@Suite("Showing an identity card")
struct CardTests {
    private static let conflict = Refusal(.conflict, "")
    private static let rejected = Refusal(.cardRejected, "")

    private static func failed(_ checks: [CardCheck]) -> [CardCheck.Name] {
        checks.filter { $0.result == .failed }.map(\.name)
    }

    @Test("needs a proven number first, then fills the row and lifts the level")
    func fills() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            let alice = try await bench.phones.person("alice")
            let refusal = await #expect(throws: Self.conflict) { try await bench.show(try .virginia, alice) }
            #expect(refusal?.state == "none")
            // Nobody's attempts are used up by a card that comes too early.
            let counted = try await fixture.store.read {
                try $0.first("SELECT COUNT(*) FROM rates WHERE key LIKE 'card %'", [])
            }
            #expect(try counted?.integer(0) == 0)
            try await bench.prove("+14155552671", alice)
            let judged = try await bench.show(try .virginia, alice)
            #expect(judged.status == .verified)
            #expect(judged.assurance == .barcode)
            #expect(judged.checks.count == CardCheck.Name.ofTheCard.count + 2)
            let own = try await bench.fixture.context.readProfile(alice.session)
            #expect(own.user.assurance == .barcode)
            #expect(own.proved?.phoneNumber == "+14155552671")
            #expect(own.proved?.fullName == judged.facts.fullName)
            #expect(own.proved?.documentNumber == "T64225789")
            #expect(own.proved?.jurisdiction == "USA-VA")
            #expect(own.age == 40)
            #expect(try await fixture.context.readCard(judged.id.description, to: alice.session).facts == judged.facts)
            let mallory = try await bench.phones.person("mallory")
            await #expect(throws: Refusal(.notFound, "")) {
                try await fixture.context.readCard(judged.id.description, to: mallory.session)
            }
        }
    }

    @Test("is refused with the checks where a hard one fails, and what was read is not kept")
    func refused() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            let alice = try await bench.withPhone("alice", "+14155552671")
            var expired = try CardSpecimen.virginia
            expired.expiry = CardSpecimen.day(2026, 12, 10)
            let refusal = await #expect(throws: Self.rejected) { try await bench.show(expired, alice) }
            let reasons = Self.failed(refusal?.checks ?? [])
            #expect(reasons.contains(.unexpired))
            var child = try CardSpecimen.virginia
            child.birth = CardSpecimen.day(2015, 6, 6)
            let tooYoung = await #expect(throws: Self.rejected) { try await bench.show(child, alice) }
            let age = Self.failed(tooYoung?.checks ?? [])
            #expect(age.contains(.minimumAge))
            await #expect(throws: Refusal(.malformedRequest, "")) {
                try await bench.submit(.aamva("AAAA"), alice)
            }
            let kept = try await fixture.store.read { try $0.query("SELECT id FROM identity_cards").count }
            #expect(kept == 0)
            #expect(try await bench.assurance(alice) == .phone)
        }
    }

    @Test("is counted before it is judged: the sixth within six hours is refused; what cannot be read is none")
    func limited() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            let alice = try await bench.withPhone("alice", "+14155552671")
            let blanks = try CardSpecimen.virginia.text.replacing("\n", with: " ")
            let unreadable = [
                Service.CardInput.mrz("P<"), .aamva("!!!"), .aamva("AAAA"),
                .aamva(Data(blanks.utf8).base64EncodedString()),
            ]
            for input in unreadable + unreadable {
                await #expect(throws: Refusal(.malformedRequest, "")) {
                    try await bench.submit(input, alice)
                }
            }
            for _ in 1...5 {
                var expired = try CardSpecimen.virginia
                expired.expiry = CardSpecimen.day(2025, 1, 1)
                await #expect(throws: Self.rejected) { try await bench.show(expired, alice) }
            }
            await #expect(throws: Refusal(.rateLimited, "")) { try await bench.show(try .virginia, alice) }
            fixture.clock.advance(6 * 3600 - 1)
            let late = try await bench.phones.person("alice")
            let refusal = await #expect(throws: Refusal(.rateLimited, "")) {
                try await bench.show(try .virginia, late)
            }
            #expect(refusal?.retryAfter == 1)
            fixture.clock.advance(1)
            #expect(try await bench.show(try .virginia, try await bench.phones.person("alice")).status == .verified)
        }
    }

    @Test("goes to review where another user of the provider showed the document, or a card of the person")
    func duplicates() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            let alice = try await bench.withPhone("alice", "+14155552671")
            try await bench.show(try .virginia, alice)
            let bob = try await bench.withPhone("bob", "+14155552672")
            let document = try await bench.show(try CardBench.specimen(family: "OTHER"), bob)
            #expect(document.status == .inReview)
            #expect(document.assurance == .phone)
            #expect(Self.failed(document.checks) == [.uniqueness])
            let carol = try await bench.withPhone("carol", "+14155552673")
            #expect(try await bench.show(try CardBench.specimen("T11111111"), carol).status == .inReview)
            let dave = try await bench.withPhone("dave", "+14155552674")
            #expect(try await bench.show(try CardBench.specimen("T22222222", family: "NEW"), dave).status == .verified)
        }
    }

    @Test("of a name that is not the provider's goes to review where policy says so; one that fits does not")
    func names() async throws {
        var policy = Policy()
        #expect(!policy.cards.reviewedChecks.contains("name"))
        policy.cards.reviewedChecks = ["name"]
        try await ServiceFixture.run(policy) { fixture in
            let bench = try CardBench(fixture)
            for (user, name, status) in [("a", "Michael Sample", CardStatus.verified), ("b", "Eve Else", .inReview)] {
                let connection = try await fixture.connectNewDevice()
                let token = try fixture.signer.identityToken(
                    provider: fixture.registration.provider.id, kid: fixture.registration.keyID, externalID: user,
                    nonce: fixture.context.issueNonce(connection).nonce, now: fixture.clock.now
                ) { $0[claim: "display_name"] = .string(name) }
                let opened = try await fixture.context.openSession(
                    identityToken: token, applicationID: nil, on: connection)
                let person = PhoneBench.Person(session: opened.session, connection: connection)
                try await bench.prove(user == "a" ? "+14155552671" : "+14155552672", person)
                let judged = try await bench.show(
                    try CardBench.specimen("T6423578" + (user == "a" ? "1" : "2")), person)
                #expect(judged.checks.first { $0.name == .name }?.result == (user == "a" ? .passed : .failed))
                #expect(judged.status == status)
            }
        }
    }

    @Test("in review is decided once: approval lifts the level, rejection does not, and the input goes with either")
    func review() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            try await bench.show(try .virginia, try await bench.withPhone("alice", "+14155552671"))
            let bob = try await bench.withPhone("bob", "+14155552672")
            let carol = try await bench.withPhone("carol", "+14155552673")
            let first = try await bench.show(try .virginia, bob)
            fixture.clock.advance(1)
            let second = try await bench.show(try .virginia, carol)
            #expect(try await bench.admin.listCardsInReview(limit: 10).map(\.id) == [first.id, second.id])
            let opened = try await bench.admin.readCardInReview(first.id)
            #expect(opened.facts == first.facts)
            #expect(opened.entry.sealedInput != nil)
            try await bench.admin.approveCard(first.id, reason: "twins")
            try await bench.admin.rejectCard(second.id, reason: "a copy")
            #expect(try await bench.assurance(bob) == .barcode)
            #expect(try await bench.assurance(carol) == .phone)
            #expect(try await fixture.context.readCard(second.id.description, to: carol.session).status == .rejected)
            for id in [first.id, second.id] {
                await #expect(throws: Self.conflict) { try await bench.admin.approveCard(id, reason: "again") }
                #expect(try await bench.admin.readCardInReview(id).entry.sealedInput == nil)
            }
            #expect(try await bench.admin.readCardInReview(second.id).reason == "a copy")
            #expect(try await bench.admin.listCardsInReview(limit: 10).isEmpty)
            await #expect(throws: Refusal(.notFound, "")) {
                try await bench.admin.approveCard(IdentityCardID(UUID()), reason: "none")
            }
            let audited = try await fixture.store.read { transaction in
                try transaction.query("SELECT event, actor FROM audit_entries ORDER BY at").map {
                    (try $0.text(0), try $0.text(1))
                }
            }
            let admins = audited.filter { $0.1 == "admin test" }.map(\.0)
            #expect(admins.count { $0 == "personal_data_read" } == 4)
            #expect(admins.contains("identity_verified") && admins.contains("card_rejected"))
        }
    }

    @Test("whose approval comes after the number went to somebody else lifts nothing")
    func approvalAfterReassignment() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            try await bench.show(try .virginia, try await bench.withPhone("alice", "+14155552671"))
            let bob = try await bench.withPhone("bob", "+14155552672")
            let waiting = try await bench.show(try .virginia, bob)
            _ = try await bench.withPhone("carol", "+14155552672")
            await #expect(throws: Self.conflict) { try await bench.admin.approveCard(waiting.id, reason: "late") }
            #expect(try await bench.assurance(bob) == .none)
            #expect(try await bench.admin.listCardsInReview(limit: 10).map(\.id) == [waiting.id])
        }
    }

    @Test("counts as issuer_checked only where the issuer says the same; a contradiction goes to review")
    func issuer() async throws {
        try await ServiceFixture.run { fixture in
            for (number, family, answer, status, level) in [
                ("+14155552671", "SAMPLEA", IssuerConfirmation.confirmed, CardStatus.verified, Assurance.issuerChecked),
                ("+14155552672", "SAMPLEB", .contradicted(["family_name"]), .inReview, .phone),
                ("+14155552673", "SAMPLEC", .unanswered, .verified, .barcode),
            ] {
                let bench = try CardBench(fixture) { _ in answer }
                let person = try await bench.withPhone(number, number)
                let judged = try await bench.show(
                    try CardBench.specimen("T6423" + number.suffix(4), family: family), person)
                #expect(judged.status == status)
                #expect(try await bench.assurance(person) == level)
            }
        }
    }

    @Test("keeps what was scanned only in review, and no longer than a day")
    func rawInput() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            try await bench.show(try .virginia, try await bench.withPhone("alice", "+14155552671"))
            let bob = try await bench.withPhone("bob", "+14155552672")
            let waiting = try await bench.show(try .virginia, bob)
            func inputs() async throws -> Int {
                try await fixture.store.read {
                    try $0.query("SELECT id FROM identity_cards WHERE sealed_input IS NOT NULL").count
                }
            }
            #expect(try await inputs() == 1)
            fixture.clock.advance(86_399)
            try await fixture.housekeeping()
            #expect(try await inputs() == 1)
            fixture.clock.advance(60)
            try await fixture.housekeeping()
            #expect(try await inputs() == 0)
            #expect(try await bench.admin.readCardInReview(waiting.id).facts == waiting.facts)
        }
    }

    @Test("may hold the tracks of a magnetic stripe")
    func stripe() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            let alice = try await bench.withPhone("alice", "+14155552671")
            let text = "%BCVICTORIA^SAMPLE,$MICHAEL^1 MAIN ST^?;6360281234567=321219860616=?_%0AV8W1P6?"
            let judged = try await bench.submit(.aamva(Data(text.utf8).base64EncodedString()), alice)
            #expect(judged.status == .verified)
            #expect(judged.facts.jurisdiction == "BC")
            #expect(try await fixture.context.readCard(judged.id.description, to: alice.session).facts == judged.facts)
        }
    }

    @Test("may be a passport's machine readable zone")
    func machineReadable() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            let alice = try await bench.withPhone("alice", "+14155552671")
            let zone = MachineReadableSpecimen(.td3).lines.joined(separator: "\n")
            let judged = try await bench.submit(.mrz(zone), alice)
            #expect(judged.status == .verified)
            #expect(judged.facts.source == .mrz)
        }
    }
}

extension CardSpecimen {
    /// The standard's example.
    static var virginia: CardSpecimen { get throws { try CardBench.specimen() } }
}
