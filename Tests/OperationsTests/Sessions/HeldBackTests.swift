import Authority
import Crypto
import Database
import Domain
import Encoding
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

    private struct Presented {
        let shown: OpenedPresentation
        let kept: OpenedPresentation
        let begun: BegunRedirect
        let code: String
    }

    private struct Bench {
        let cards: CardBench
        let bans: BanBench

        var fixture: ServiceFixture { cards.fixture }
        /// Requests to a person's wallet: two are open, and one was answered by redirect.
        func presentations(_ person: PhoneBench.Person) async throws -> Presented {
            let bench = try await PresentationBench(fixture)
            let begun = try await bench.begin(.over18, person)
            return Presented(
                shown: try await bench.open(.over18, person), kept: try await bench.open(.over18, person),
                begun: begun, code: try await bench.post(begun.answer(bench.mint(.over18)), to: begun))
        }

        var unlimited: Service { fixture.context(rateLimiting: .off) }

        init(_ fixture: ServiceFixture) throws {
            cards = try CardBench(fixture)
            bans = try BanBench(fixture)
        }

        /// - Parameters:
        ///   - open: a phone verification of the person's that can be sent again and checked.
        ///   - other: another session of the person's.
        ///   - asked: an authorization that somebody asked the person for.
        ///   - presented: requests to the person's wallet.
        func acts(
            _ open: PhoneVerificationID, other: SessionID, asked: AuthorizationID, stranger: UserID,
            presented: Presented
        ) throws -> [Act] {
            let received = ReceivedRequest(presented.shown, by: .isoDocument)
            var mint = DocumentMint(fixture.wallet.issuer)
            mint.elements = [("age_over_18", .bool(true))]
            let answer = try received.answer(presenting: try mint.response(to: received.request()))
            let specimen = try CardBench.specimen()
            let id = asked.description
            return [
                ("POST /phone-verifications", { _ = try await cards.phones.begin("+14155552672", $0) }),
                (
                    "…/check",
                    {
                        _ = try await cards.phones.context.checkPhoneVerification(
                            open.description, code: "000000", for: $0.session)
                    }
                ),
                (
                    "…/resend",
                    {
                        _ = try await cards.phones.context.resendPhoneCode(
                            open.description, for: $0.session, address: "192.0.2.1")
                    }
                ),
                ("POST /identity-cards", { _ = try await cards.show(specimen, $0) }),
                (
                    "POST /identity-cards/presentations",
                    {
                        _ = try await fixture.context.openPresentation(
                            .over18, origin: StandInWallet.origin, for: $0.session)
                    }
                ),
                (
                    "POST …/presentations/{id}",
                    {
                        _ = try await fixture.context.answerPresentation(
                            presented.shown.id.description, answer, for: $0.session)
                    }
                ),
                (
                    "DELETE …/presentations/{id}",
                    { try await fixture.context.deletePresentation(presented.kept.id.description, for: $0.session) }
                ),
                (
                    "POST /identity-cards/presentations by redirect",
                    {
                        _ = try await fixture.context.openRedirect(
                            .over18, returningTo: StandInWallet.returnAddress, for: $0.session)
                    }
                ),
                (
                    "POST …/presentations/{id} with a code",
                    {
                        _ = try await fixture.context.redeemResponse(
                            presented.begun.id.description, code: presented.code, for: $0.session)
                    }
                ),
                (
                    "PATCH /me",
                    {
                        let change = PushEndpointChange(usual: .some(nil))
                        try await cards.fixture.context.changeProfile(
                            Service.ProfileChange(endpoints: change), for: $0.session)
                    }
                ),
                (
                    "PATCH /me storage",
                    {
                        try await fixture.context.changeProfile(
                            Service.ProfileChange(storage: .untilDelivered), for: $0.session)
                    }
                ),
                (
                    "PUT /me/apps",
                    { try await fixture.context.allowApp($0.session.applicationID.description, for: $0.session) }
                ),
                (
                    "PATCH /me, presence",
                    {
                        try await fixture.context.changeProfile(
                            Service.ProfileChange(presence: .hidden), for: $0.session)
                    }
                ),
                ("GET /me/export", { _ = try await cards.fixture.context.exportPersonalData(for: $0.session) }),
                ("DELETE /me", { _ = try await cards.fixture.context.erasePersonalData(for: $0.session) }),
                (
                    "POST /authorizations",
                    {
                        _ = try await unlimited.requestPermission(
                            .init(id: UUID().uuidString, to: stranger.description, eventID: nil), for: $0.session)
                    }
                ),
                ("…/approval", { _ = try await fixture.context.approveAuthorization(id, for: $0.session) }),
                ("…/rejection", { _ = try await fixture.context.rejectAuthorization(id, for: $0.session) }),
                ("…/cancellation", { _ = try await fixture.context.cancelAuthorization(id, for: $0.session) }),
                ("POST …/block", { try await fixture.context.blockRequester(of: id, for: $0.session) }),
                ("DELETE …/block", { try await fixture.context.unblockRequester(of: id, for: $0.session) }),
                ("PUT /blocks", { try await fixture.context.blockUser(stranger.description, for: $0.session) }),
                ("DELETE /blocks", { try await fixture.context.unblockUser(stranger.description, for: $0.session) }),
                (
                    "DELETE /sessions/{id}",
                    { try await fixture.context.endOtherSession(other.description, by: $0.session) }
                ),
            ]
        }
    }

    private func happen(_ event: Event, _ person: PhoneBench.Person, _ token: String, _ bench: Bench) async throws {
        let fixture = bench.fixture
        switch event {
        case .logout: try await fixture.context.endSession(token, on: person.connection)
        case .challenge: try await fixture.admin.challengeSession(person.session.id)
        case .renewal:
            try await fixture.admin.challengeSession(person.session.id)
            try await fixture.watch.poll()
            _ = try await fixture.context.renewSession(
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
        case .erasure: _ = try await bench.cards.fixture.context.erasePersonalData(for: person.session)
        }
    }

    @Test("writes nothing after a logout, challenge, renewal, ban, revocation or erasure", arguments: Event.allCases)
    func nothing(event: Event) async throws {
        try await ServiceFixture.run(PresentationBench.policy) { fixture in
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
            let asked = try await bench.unlimited.requestPermission(
                .init(id: UUID().uuidString, to: alice.session.userID.description, eventID: nil),
                for: stranger.session)
            let acts = try bench.acts(
                open, other: other, asked: asked, stranger: stranger.session.userID,
                presented: try await bench.presentations(alice))

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
        try await ServiceFixture.run(PresentationBench.policy) { fixture in
            let bench = try Bench(fixture)
            let stranger = try await bench.cards.withPhone("bob", "+14155552670")
            try await bench.cards.show(try CardBench.specimen("T64235780", family: "BAKER"), stranger)
            let alice = try await bench.cards.withPhone("alice", "+14155552671")
            try await bench.cards.show(try CardBench.specimen("T64235781", family: "ADAMS"), alice)
            let other = try await fixture.opened("alice", on: alice.connection).session.id
            let open = try await bench.cards.phones.begin("+14155552673", alice).id
            fixture.clock.advance(31)
            let asked = try await bench.unlimited.requestPermission(
                .init(id: UUID().uuidString, to: alice.session.userID.description, eventID: nil),
                for: stranger.session)
            let acts = try bench.acts(
                open, other: other, asked: asked, stranger: stranger.session.userID,
                presented: try await bench.presentations(alice))
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
                "phone_verifications", "identity_cards", "presentations", "presentations WHERE attempts > 0",
                "age_proofs", "authorizations WHERE state = 'APPROVAL'", "authorizations",
                "blocks", "audit_entries", "rates", "sessions WHERE state = 'unauthenticated'",
                "phone_verifications WHERE checks > 0", "outbox", "presences",
            ].map { try transaction.first("SELECT count(*) FROM \($0)")?.integer(0) ?? -1 }
        }
    }

    @Test("is looked at by each operation that takes a session: none of them writes without it")
    func sources() throws {
        let takesSession = /(?:for|by|to) session: Session[,)\s]/
        var actors = 0
        for file in try SourceFile.all(below: "Sources/Operations") where file.text.contains(takesSession) {
            if file.text.contains("context: Service") {
                let acts = file.text.contains("context.act(")
                let reads =
                    !file.text.contains(/store\.(?:transaction|write|act)\b/)
                    && !file.text.contains(/context\.(?:write|signIn)\b/)
                #expect(reads || acts, "\(file.path)")
                if acts { actors += 1 }
            }
            for method in file.methods where method.text.contains(takesSession) {
                let writes = /\b(?:write|maintain|signIn)\b(?: \{|\(inTurn|\(spending)|store\.(?:transaction|write)\b/
                #expect(!method.text.contains(writes), "\(file.path): \(method.name)")
                if method.text.contains(/\bact\((?:for:|\n)/) { actors += 1 }
            }
        }
        #expect(actors >= 25)
    }
}
