import Authority
import Crypto
import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

/// Requests that were let in, whose bodies come when something else has been decided.
@Suite("A request that was held back")
struct HeldBackTests {
    /// What may happen between the beginning of a request and its end.
    enum Event: String, CaseIterable, Sendable {
        case logout, challenge, renewal, userBan, deviceBan, revocation, erasure

        var refusal: Refusal.Code {
            switch self {
            case .challenge: .sessionChallenged
            case .logout, .renewal, .userBan, .erasure: .sessionDestroyed
            case .deviceBan, .revocation: .certificateRevoked
            }
        }
    }

    /// Every operation that writes for the holder of a session.
    private typealias Act = (name: String, run: (PhoneBench.Person) async throws -> Void)

    private struct Bench {
        let cards: CardBench
        let bans: BanBench
        let ask: RequestPermission
        let answer: AnswerAuthorization
        let block: BlockUser
        let end: EndSession

        var fixture: ServiceFixture { cards.fixture }

        init(_ fixture: ServiceFixture) throws {
            cards = try CardBench(fixture)
            bans = try BanBench(fixture)
            ask = RequestPermission(fixture.context(rateLimiting: .off))
            answer = AnswerAuthorization(fixture.context)
            block = BlockUser(fixture.context)
            end = fixture.end
        }

        /// - Parameters:
        ///   - open: a phone verification of the person's that can be sent again and checked.
        ///   - other: another session of the person's.
        ///   - asked: an authorization that somebody asked the person for.
        func acts(
            _ open: PhoneVerificationID, other: SessionID, asked: AuthorizationID, stranger: UserID
        ) throws -> [Act] {
            let specimen = try CardBench.specimen()
            let id = asked.description
            return [
                ("POST /phone-verifications", { _ = try await cards.phones.begin("+14155552672", $0) }),
                ("…/check", { _ = try await cards.phones.check(open.description, code: "000000", for: $0.session) }),
                (
                    "…/resend",
                    {
                        _ = try await cards.phones.resend(
                            open.description, for: $0.session, address: "192.0.2.1")
                    }
                ),
                ("POST /identity-cards", { _ = try await cards.show(specimen, $0) }),
                ("PATCH /me", { try await cards.user.setPushEndpoint(nil, for: $0.session) }),
                ("GET /me/export", { _ = try await cards.user.export(for: $0.session) }),
                ("DELETE /me", { _ = try await cards.user.erase(for: $0.session) }),
                (
                    "POST /authorizations",
                    {
                        _ = try await ask(
                            .init(id: UUID().uuidString, to: stranger.description, eventID: nil), for: $0.session)
                    }
                ),
                ("…/approval", { _ = try await answer.approve(id, for: $0.session) }),
                ("…/rejection", { _ = try await answer.reject(id, for: $0.session) }),
                ("…/cancellation", { _ = try await answer.cancel(id, for: $0.session) }),
                ("PUT /blocks", { try await block(stranger.description, for: $0.session) }),
                ("DELETE /blocks", { try await block.end(stranger.description, for: $0.session) }),
                ("DELETE /sessions/{id}", { try await end.other(other.description, by: $0.session) }),
            ]
        }
    }

    private func happen(_ event: Event, _ person: PhoneBench.Person, _ token: String, _ bench: Bench) async throws {
        let fixture = bench.fixture
        let challenge = ChallengeSession(fixture.admin)
        switch event {
        case .logout: try await fixture.end.current(token, on: person.connection)
        case .challenge: try await challenge(person.session.id)
        case .renewal:
            try await challenge(person.session.id)
            try await fixture.watch.poll()
            _ = try await fixture.renew(
                sessionToken: token, identityToken: try fixture.identityToken("alice", on: person.connection),
                on: person.connection)
        case .userBan: try await bench.bans.ban(.user("test/alice"))
        case .deviceBan: try await bench.bans.ban(.device(person.session.deviceID))
        case .revocation:
            let certificates = try await fixture.store.read { [id = person.session.deviceID] in
                try CertificateRepository($0).list(deviceID: id)
            }
            for certificate in certificates {
                try await fixture.revokeCertificate.revoke(
                    serial: certificate.serial, reason: .keyCompromise)
            }
        case .erasure: _ = try await bench.cards.user.erase(for: person.session)
        }
    }

    @Test("writes nothing after a logout, challenge, renewal, ban, revocation or erasure", arguments: Event.allCases)
    func nothing(event: Event) async throws {
        try await ServiceFixture.run { fixture in
            let bench = try Bench(fixture)
            let phones = bench.cards.phones
            let stranger = try await bench.cards.withPhone("bob", "+14155552670")
            try await bench.cards.show(try CardBench.specimen("T64235780", family: "BAKER"), stranger)
            let connection = try await fixture.connectNewDevice()
            let opened = try await fixture.opened("alice", on: connection)
            let alice = PhoneBench.Person(session: opened.session, connection: connection)
            try await bench.cards.prove("+14155552671", alice)
            try await bench.cards.show(try CardBench.specimen("T64235781", family: "ADAMS"), alice)
            let other = try await fixture.opened("alice", on: connection).session.id
            let open = try await phones.begin("+14155552673", alice).id
            fixture.clock.advance(31)
            let asked = try await bench.ask(
                .init(id: UUID().uuidString, to: alice.session.userID.description, eventID: nil),
                for: stranger.session)
            let acts = try bench.acts(open, other: other, asked: asked, stranger: stranger.session.userID)

            let token = try #require(opened.token).text.reveal()
            try await happen(event, alice, token, bench)
            let before = try await rows(fixture)
            for act in acts {
                await #expect(throws: Refusal(event.refusal, ""), "\(act.name)") { try await act.run(alice) }
            }
            #expect(try await rows(fixture) == before)
        }
    }

    @Test("would have been carried out if nothing had happened")
    func everything() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try Bench(fixture)
            let stranger = try await bench.cards.withPhone("bob", "+14155552670")
            try await bench.cards.show(try CardBench.specimen("T64235780", family: "BAKER"), stranger)
            let alice = try await bench.cards.withPhone("alice", "+14155552671")
            try await bench.cards.show(try CardBench.specimen("T64235781", family: "ADAMS"), alice)
            let other = try await fixture.opened("alice", on: alice.connection).session.id
            let open = try await bench.cards.phones.begin("+14155552673", alice).id
            fixture.clock.advance(31)
            let asked = try await bench.ask(
                .init(id: UUID().uuidString, to: alice.session.userID.description, eventID: nil),
                for: stranger.session)
            let acts = try bench.acts(open, other: other, asked: asked, stranger: stranger.session.userID)
            // What cannot follow upon another act says so by a conflict; the erasure comes last.
            for act in acts.filter({ $0.name != "DELETE /me" }) + acts.filter({ $0.name == "DELETE /me" }) {
                do {
                    try await act.run(alice)
                } catch let refusal as Refusal {
                    #expect(refusal.code == .conflict, "\(act.name): \(refusal)")
                }
            }
        }
    }

    /// How many rows there are of each kind that the acts write.
    private func rows(_ fixture: ServiceFixture) async throws -> [Int64] {
        try await fixture.store.read { transaction in
            try [
                "phone_verifications", "identity_cards", "authorizations WHERE state = 'APPROVAL'", "authorizations",
                "blocks", "audit_entries", "rates", "sessions WHERE state = 'unauthenticated'",
                "phone_verifications WHERE checks > 0", "outbox",
            ].map { try transaction.first("SELECT count(*) FROM \($0)")?.integer(0) ?? -1 }
        }
    }

    @Test("is looked at by each operation that takes a session: none of them holds a store that writes without it")
    func sources() throws {
        var actors = 0
        for file in try SourceFile.all(below: "Sources/Operations") {
            let text = file.text
            guard text.contains(/(?:for|by|to) session: Session[,)\s]/), text.contains("context: ServiceContext") else {
                continue
            }
            let reads =
                !text.contains(/store\.(?:transaction|write|act)\b/) && !text.contains(/context\.(?:commit|signIn)\b/)
            let acts =
                text.contains("store = SessionStore(context)") || text.contains("SessionStore(context).act(for:")
            #expect(reads || acts, "\(file.path)")
            if acts { actors += 1 }
        }
        #expect(actors >= 9)
    }
}
