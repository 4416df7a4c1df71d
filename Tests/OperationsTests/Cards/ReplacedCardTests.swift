import Cards
import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

@Suite("A card in the place of one that was verified")
struct ReplacedCardTests {
    /// Two verified users of one provider, of whom one was permitted to message the other, and asked for more.
    private struct Permitted {
        let bench: CardBench
        let alice: PhoneBench.Person
        let bob: PhoneBench.Person
        let permission: AuthorizationID

        init(_ fixture: ServiceFixture) async throws {
            bench = try CardBench(fixture)
            alice = try await bench.withPhone("alice", "+14155552671")
            bob = try await bench.withPhone("bob", "+14155552672")
            try await bench.show(try .virginia, alice)
            try await bench.show(try CardBench.specimen("T11111112", family: "OTHER", given: "ROBERT"), bob)
            let service = fixture.context(rateLimiting: .off)
            permission = try await service.requestPermission(
                try .init(id: UUID().uuidString, to: bob.session.userID.description, eventID: nil), for: alice.session)
            _ = try await fixture.context.approveAuthorization(permission.description, for: bob.session)
        }

        func state() async throws -> MessagingPermission.State? {
            try await bench.fixture.store.read { try AuthorizationRepository($0).find(permission)?.state }
        }
    }

    private static func failed(_ judged: Service.EvaluatedCard) -> [CardCheck.Name] {
        judged.checks.filter { $0.result == .failed }.map(\.name)
    }

    @Test("by another birthday or name goes to review, whatever policy says; a renewal of the same person's does not")
    func review() async throws {
        var policy = Policy()
        policy.cards.reviewedChecks = []
        policy.cards.submissions = 20
        try await ServiceFixture.run(policy) { fixture in
            let bench = try CardBench(fixture)
            let alice = try await bench.withPhone("alice", "+14155552671")
            let first = try await bench.show(try .virginia, alice)
            #expect(first.checks.first { $0.name == .samePerson }?.result == .notApplicable)
            var birthday = try CardBench.specimen("T64235781")
            birthday.birth = CardSpecimen.day(1986, 6, 7)
            for other in [birthday, try CardBench.specimen("T64235782", given: "MARTHA")] {
                let judged = try await bench.show(other, alice)
                #expect(judged.status == .inReview)
                #expect(Self.failed(judged) == [.samePerson])
                #expect(
                    try await bench.fixture.context.readProfile(alice.session).proved?.fullName == first.facts.fullName)
            }
            var renewed = try CardBench.specimen("T64235783")
            (renewed.middle, renewed.suffix, renewed.street) = ("", "", "1 ELM STREET")
            let judged = try await bench.show(renewed, alice)
            #expect(judged.status == .verified)
            #expect(judged.checks.first { $0.name == .samePerson }?.result == .passed)
        }
    }

    @Test("takes what the former person was permitted with it, once a reviewer lets it count and not before")
    func withdrawn() async throws {
        try await ServiceFixture.run { fixture in
            let permitted = try await Permitted(fixture)
            let bench = permitted.bench
            let other = try CardBench.specimen("T22222223", family: "NEWCOMER", given: "EVE")
            let first = try await bench.show(other, permitted.alice)
            #expect(first.status == .inReview)
            #expect(try await permitted.state() == .approval)
            try await bench.admin.rejectCard(first.id, reason: "a mistake")
            #expect(try await permitted.state() == .approval)
            let second = try await bench.show(other, permitted.alice)
            // Which card came last is told by the time of the decision.
            fixture.clock.advance(1)
            try await bench.admin.approveCard(second.id, reason: "a new holder")
            #expect(try await permitted.state() == .cancelled)
            #expect(
                try await bench.fixture.context.readProfile(permitted.alice.session).proved?.fullName
                    == second.facts.fullName)
            let details = try await fixture.store.read { transaction in
                try transaction.query("SELECT detail FROM audit_entries WHERE event = 'identity_verified'").compactMap {
                    try $0.textOrNull(0)
                }
            }
            #expect(details.contains("card \(second.id), another person's, authorizations withdrawn: 1"))
            // The next card is compared with the new holder's.
            #expect(try await bench.show(other, permitted.alice).status == .verified)
            #expect(try await bench.show(try .virginia, permitted.alice).status == .inReview)
        }
    }

    @Test("that is the same person's withdraws nothing when a reviewer lets it count")
    func kept() async throws {
        try await ServiceFixture.run { fixture in
            let permitted = try await Permitted(fixture)
            let bench = permitted.bench
            let carol = try await bench.withPhone("carol", "+14155552673")
            let shared = try CardBench.specimen("T33333334", family: "THIRD", given: "CAROL")
            try await bench.show(shared, carol)
            var own = try CardBench.specimen("T33333334")
            own.suffix = ""
            let waiting = try await bench.show(own, permitted.alice)
            #expect(Self.failed(waiting) == [.uniqueness])
            try await bench.admin.approveCard(waiting.id, reason: "a number given twice")
            #expect(try await permitted.state() == .approval)
        }
    }

    @Test("is compared with it even where the number behind it went to somebody else and the user begins anew")
    func suspended() async throws {
        try await ServiceFixture.run { fixture in
            let permitted = try await Permitted(fixture)
            let bench = permitted.bench
            _ = try await bench.withPhone("carol", "+14155552671")
            #expect(try await bench.assurance(permitted.alice) == .none)
            try await bench.prove("+14155552679", permitted.alice)
            let other = try CardBench.specimen("T22222223", family: "NEWCOMER", given: "EVE")
            let judged = try await bench.show(other, permitted.alice)
            #expect(Self.failed(judged) == [.samePerson])
            #expect(judged.assurance == .phone)
            try await bench.admin.approveCard(judged.id, reason: "a new holder")
            #expect(try await permitted.state() == .cancelled)
        }
    }

    @Test("goes to review where the former one cannot be opened any more")
    func unreadable() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            let alice = try await bench.withPhone("alice", "+14155552671")
            let first = try await bench.show(try .virginia, alice)
            try await fixture.store.write { transaction in
                try IdentityCardRepository(transaction).replaceFacts(first.id, sealed: [UInt8](repeating: 7, count: 64))
            }
            let second = try await bench.show(try .virginia, alice)
            #expect(second.status == .inReview)
            #expect(Self.failed(second) == [.samePerson])
        }
    }

    @Test("of one person is asked for under all kinds of document: a number is one document")
    func kinds() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            try await bench.show(try .virginia, try await bench.withPhone("alice", "+14155552671"))
            var identification = try CardBench.specimen(family: "OTHER", given: "ROBERT")
            identification.subfile = "ID"
            let judged = try await bench.show(identification, try await bench.withPhone("bob", "+14155552672"))
            #expect(judged.facts.kind == .identification)
            #expect(Self.failed(judged) == [.uniqueness])
            #expect(judged.status == .inReview)
            identification.number = "T64235780"
            let carol = try await bench.withPhone("carol", "+14155552673")
            identification.family = "THIRD"
            #expect(try await bench.show(identification, carol).status == .verified)
        }
    }

    @Test("is shown to the reviewer beside the account's name, and with the other users of the document and the person")
    func reviewer() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            let alice = try await bench.withPhone("alice", "+14155552671")
            try await bench.show(try .virginia, alice)
            let carol = try await bench.withPhone("carol", "+14155552673")
            try await bench.show(try CardBench.specimen("T33333334", family: "OTHER", given: "ROBERT"), carol)
            let connection = try await fixture.connectNewDevice()
            let token = try fixture.signer.identityToken(
                provider: fixture.registration.provider.id, kid: fixture.registration.keyID, externalID: "bob",
                nonce: fixture.context.issueNonce(connection).nonce, now: fixture.clock.now
            ) { $0[claim: "display_name"] = .string("Bobby Tables") }
            let opened = try await fixture.context.openSession(identityToken: token, applicationID: nil, on: connection)
            let bob = PhoneBench.Person(session: opened.session, connection: connection)
            try await bench.prove("+14155552672", bob)
            // The document of one, as another kind of card, and the person of the other.
            var both = try CardBench.specimen(family: "OTHER", given: "ROBERT")
            both.subfile = "ID"
            let waiting = try await bench.show(both, bob)
            let shown = try await bench.admin.readCardInReview(waiting.id)
            #expect(shown.account == fixture.registration.provider.address(of: "bob"))
            #expect(shown.accountName == "Bobby Tables")
            #expect(shown.facts?.fullName.contains("ROBERT") == true)
            #expect(
                Set(shown.others.map { "\($0.shared.rawValue) \($0.userID) \($0.account ?? "")" }) == [
                    "document \(alice.session.userID) \(fixture.registration.provider.address(of: "alice"))",
                    "person \(carol.session.userID) \(fixture.registration.provider.address(of: "carol"))",
                ])
            _ = try await bench.fixture.context.erasePersonalData(for: carol.session)
            #expect(try await bench.admin.readCardInReview(waiting.id).others.map(\.userID) == [alice.session.userID])
        }
    }
}
