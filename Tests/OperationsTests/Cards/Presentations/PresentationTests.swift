import Encoding
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

@testable import Domain

@Suite("A presentation by a wallet")
struct PresentationTests {
    private static let rejected = Refusal(.presentationRejected, "")

    @Test("proves an age by either protocol, without a phone number", arguments: Presentation.WalletProtocol.allCases)
    func age(by walletProtocol: Presentation.WalletProtocol) async throws {
        try await PresentationBench.run { bench in
            let alice = try await bench.cards.phones.person("alice")
            let outcome = try await bench.present(.over18, alice, by: walletProtocol)
            #expect(outcome.isReached == true)
            #expect(try await bench.ages(of: alice)?.proof == .over18)
            let later = try await bench.present(.over21, alice, by: walletProtocol)
            #expect(later.isReached == true)
            #expect(try await bench.ages(of: alice)?.proof == [.over18, .over21])
            #expect(try await bench.cards.assurance(alice) == .none)
        }
    }

    @Test("that states that the age is not reached stores nothing, and takes nothing away")
    func younger() async throws {
        try await PresentationBench.run { bench in
            let alice = try await bench.cards.phones.person("alice")
            let outcome = try await bench.present(.over18, alice, holds: false)
            #expect(outcome.isReached == false)
            #expect(try await bench.count("age_proofs") == 0)
            try await bench.present(.over18, alice)
            try await bench.present(.over21, alice, holds: false)
            #expect(try await bench.ages(of: alice)?.proof == .over18)
        }
    }

    @Test(
        "of an identity gives the highest level, as a card does", arguments: Presentation.WalletProtocol.allCases)
    func identity(by walletProtocol: Presentation.WalletProtocol) async throws {
        try await PresentationBench.run { bench in
            let stranger = try await bench.cards.phones.person("bob")
            await #expect(throws: Refusal.phoneRequired) { _ = try await bench.open(.identity, stranger) }
            let alice = try await bench.cards.withPhone("alice", "+14155552671")
            let card = try #require(try await bench.present(.identity, alice, by: walletProtocol).card)
            #expect(card.status == .verified && card.assurance == .credential)
            #expect(card.facts.source == .mobileDocument && card.facts.kind == .licence)
            #expect(card.facts.fullName == "ALICE SAMPLE" && card.facts.dateOfBirth.text == "1990-01-31")
            #expect(card.facts.jurisdiction == "VA" && card.facts.country == "USA")
            #expect(card.facts.issuerSignature.state == .verified)
            #expect(try await bench.count("identity_cards WHERE sealed_input IS NOT NULL") == 0)
        }
    }

    @Test("of a PID gives the same level")
    func personIdentification() async throws {
        try await PresentationBench.run { bench in
            let alice = try await bench.cards.withPhone("alice", "+14155552671")
            let opened = try await bench.open(.identity, alice)
            let received = ReceivedRequest(opened, by: .openID4VP)
            let mint = CredentialMint.person("SAMPLE", bench.wallet.issuer)
            let answer = try received.answer(token: try mint.presentation(for: received.request()), as: "pid")
            let outcome = try await bench.fixture.context.answerPresentation(
                opened.id.description, answer, for: alice.session)
            let card = try #require(outcome.card)
            #expect(card.assurance == .credential && card.facts.source == .selectiveDisclosure)
            #expect(card.facts.kind == .identification && card.facts.country == "USA")
        }
    }

    @Test("of several credentials is refused, as a fraud if they are of different persons")
    func several() async throws {
        try await PresentationBench.run { bench in
            let alice = try await bench.cards.withPhone("alice", "+14155552671")
            for (name, reason) in [("SAMPLE", Refusal.Reason.surplus), ("OTHER", .mixed)] {
                let opened = try await bench.open(.identity, alice)
                let received = ReceivedRequest(opened, by: .openID4VP)
                let licence = try bench.mint(.identity).response(to: received.request())
                let person = CredentialMint.person(name, bench.wallet.issuer)
                let answer = try received.answer(tokens: [
                    "pid": try person.presentation(for: received.request()), "mdl": Base64URL.encode(licence),
                ])
                let refusal = await RedirectTests.refusal {
                    _ = try await bench.fixture.context.answerPresentation(
                        opened.id.description, answer, for: alice.session)
                }
                #expect(refusal?.reason == reason)
                let read = try await bench.fixture.context.readPresentation(opened.id.description, for: alice.session)
                #expect(read.state == .refused && read.reason == reason.rawValue)
            }
            #expect(try await bench.count("identity_cards") == 0)
        }
    }

    @Test("shows a document that another user showed by its barcode to a reviewer")
    func doors() async throws {
        try await PresentationBench.run { bench in
            let bob = try await bench.cards.withPhone("bob", "+14155552670")
            try await bench.cards.show(try CardBench.specimen("T64235789", family: "OTHER"), bob)
            let alice = try await bench.cards.withPhone("alice", "+14155552671")
            let card = try #require(try await bench.present(.identity, alice).card)
            #expect(card.status == .inReview && card.assurance == .phone)
            #expect(card.checks.contains { $0.name == .uniqueness && $0.result == .failed })
            #expect(try await bench.count("identity_cards WHERE sealed_input IS NOT NULL") == 0)
        }
    }

    @Test("is answered by the session that began it, and by nobody else")
    func owners() async throws {
        try await PresentationBench.run { bench in
            let (alice, bob) = (
                try await bench.cards.phones.person("alice"), try await bench.cards.phones.person("bob")
            )
            let opened = try await bench.open(.over18, alice)
            let answer = try bench.answer(opened, bench.mint(.over18), by: .isoDocument)
            let other = PhoneBench.Person(
                session: try await bench.fixture.opened("alice", on: alice.connection).session,
                connection: alice.connection)
            for stranger in [bob, other] {
                await #expect(throws: Refusal.unknownPresentation) {
                    _ = try await bench.fixture.context.answerPresentation(
                        opened.id.description, answer, for: stranger.session)
                }
                await #expect(throws: Refusal.unknownPresentation) {
                    _ = try await bench.fixture.context.readPresentation(opened.id.description, for: stranger.session)
                }
                await #expect(throws: Refusal.unknownPresentation) {
                    try await bench.fixture.context.deletePresentation(opened.id.description, for: stranger.session)
                }
            }
            #expect(try await bench.count("presentations WHERE attempts > 0") == 0)
            _ = try await bench.fixture.context.answerPresentation(
                opened.id.description, answer, for: alice.session)
        }
    }

    @Test("stays open after an answer that cannot be parsed or decrypted, and ends by any other")
    func ends() async throws {
        try await PresentationBench.run { bench in
            let context = bench.fixture.context
            let alice = try await bench.cards.phones.person("alice")
            let (first, second) = (try await bench.open(.over18, alice), try await bench.open(.over18, alice))
            let foreign = try bench.answer(second, bench.mint(.over18), by: .openID4VP)
            func refusal(_ opened: OpenedPresentation, _ answer: WalletAnswer) async -> Refusal? {
                do {
                    _ = try await context.answerPresentation(opened.id.description, answer, for: alice.session)
                    return nil
                } catch { return error as? Refusal }
            }
            let unread = await refusal(first, WalletAnswer(.openID4VP, response: "x"))
            #expect(unread?.reason == .malformed)
            #expect(await refusal(first, foreign)?.reason == .wrongKey)
            var state = try await context.readPresentation(first.id.description, for: alice.session)
            #expect(state.state == .open && state.reason == nil)
            var forged = DocumentMint(try WalletIssuer())
            forged.elements = bench.mint(.over18).elements
            let untrusted = try bench.answer(first, forged, by: .isoDocument)
            #expect(await refusal(first, untrusted)?.reason == .issuerCertificate)
            state = try await context.readPresentation(first.id.description, for: alice.session)
            #expect(state.state == .refused && state.reason == "issuer_certificate")
            let right = try bench.answer(first, bench.mint(.over18), by: .isoDocument)
            #expect(await refusal(first, right)?.state == "answered")
            #expect(try await bench.count("age_proofs") == 0)
            #expect(try await bench.count("presentations WHERE state <> 'open' AND sealed_key IS NOT NULL") == 0)
        }
    }

    @Test("stays open after an answer that presents nothing, by either protocol")
    func empty() async throws {
        try await PresentationBench.run { bench in
            let context = bench.fixture.context
            let alice = try await bench.cards.phones.person("alice")
            let opened = try await bench.open(.over18, alice)
            let received = ReceivedRequest(opened, by: .openID4VP)
            for answer in [
                try received.answer(tokens: [:]),
                try received.answer(content: .object(["error": .string("access_denied")])),
                try ReceivedRequest(opened, by: .isoDocument).answer(presenting: MintedDocument.response([])),
                try ReceivedRequest(opened, by: .isoDocument).answer(
                    presenting: MintedDocument.response([], status: 10)),
            ] {
                let refusal = await RedirectTests.refusal {
                    _ = try await context.answerPresentation(opened.id.description, answer, for: alice.session)
                }
                #expect(refusal?.code == .presentationRejected)
                let read = try await context.readPresentation(opened.id.description, for: alice.session)
                #expect(read.state == .open)
            }
            let right = try bench.answer(opened, bench.mint(.over18), by: .isoDocument)
            let outcome = try await context.answerPresentation(opened.id.description, right, for: alice.session)
            #expect(outcome.isReached == true)
        }
    }

    @Test("takes no sixth answer, and none after its end")
    func attempts() async throws {
        try await PresentationBench.run { bench in
            let alice = try await bench.cards.phones.person("alice")
            let opened = try await bench.open(.over18, alice)
            let context = bench.fixture.context
            for _ in 1...Presentation.maximumAttempts {
                await #expect(throws: Self.rejected.with(.malformed)) {
                    _ = try await context.answerPresentation(
                        opened.id.description, WalletAnswer(.isoDocument, response: "x"), for: alice.session)
                }
            }
            let answer = try bench.answer(opened, bench.mint(.over18), by: .isoDocument)
            await #expect(throws: Refusal.tooManyRequests(retryAfter: 1)) {
                _ = try await context.answerPresentation(opened.id.description, answer, for: alice.session)
            }
            let late = try await bench.open(.over18, alice)
            let other = try bench.answer(late, bench.mint(.over18), by: .isoDocument)
            bench.fixture.clock.advance(301)
            await #expect(throws: Refusal.presentationExpired) {
                _ = try await context.answerPresentation(late.id.description, other, for: alice.session)
            }
            let state = try await context.readPresentation(late.id.description, for: alice.session)
            #expect(state.state == .expired)
        }
    }

    @Test("is begun by a registered origin, three at a time and ten in an hour")
    func openings() async throws {
        try await PresentationBench.run { bench in
            let alice = try await bench.cards.phones.person("alice")
            for origin in ["https://other.example", "https://app.example/", "app.example", ""] {
                await #expect(throws: Refusal.originUnregistered, "\(origin)") {
                    _ = try await bench.fixture.context.openPresentation(.over18, origin: origin, for: alice.session)
                }
            }
            for _ in 1...3 { _ = try await bench.open(.over18, alice) }
            await #expect(throws: Refusal.tooManyRequests(retryAfter: 1)) { _ = try await bench.open(.over18, alice) }
            for _ in 1...7 {
                bench.fixture.clock.advance(301)
                _ = try await bench.open(.over18, alice)
            }
            bench.fixture.clock.advance(301)
            await #expect(throws: Refusal.tooManyRequests(retryAfter: 1)) { _ = try await bench.open(.over18, alice) }
            try await bench.fixture.admin.removeOrigin(PresentationBench.origin(), of: "test")
            bench.fixture.clock.advance(3600)
            let session = try await bench.cards.phones.person("carol")
            await #expect(throws: Refusal.originUnregistered) { _ = try await bench.open(.over18, session) }
        }
    }

    @Test("is refused if the issuer revoked the credential, or its list cannot be fetched")
    func status() async throws {
        try await PresentationBench.run { bench in
            let alice = try await bench.cards.phones.person("alice")
            func reason() async throws -> Refusal.Reason? {
                let opened = try await bench.open(.over18, alice)
                var mint = bench.mint(.over18)
                mint.status = .map([
                    "status_list": .map(["idx": .unsigned(1), "uri": .text("https://dmv.example/status/1")])
                ])
                do {
                    _ = try await bench.fixture.context.answerPresentation(
                        opened.id.description, bench.answer(opened, mint, by: .isoDocument), for: alice.session)
                    return nil
                } catch let refusal as Refusal { return refusal.reason }
            }
            #expect(try await reason() == .statusUnknown)
            var list = StatusListMint(bench.wallet.issuer)
            try bench.wallet.publish(list)
            #expect(try await reason() == .statusUnknown)
            bench.fixture.clock.advance(31)
            #expect(try await reason() == .revoked)
            bench.fixture.clock.advance(301)
            list.list = [0]
            try bench.wallet.publish(list)
            #expect(try await reason() == nil)
        }
    }

    @Test("is not there while the policy does not enable wallets")
    func disabled() async throws {
        try await PresentationBench.run(Policy()) { bench in
            let alice = try await bench.cards.phones.person("alice")
            await #expect(throws: Refusal.walletsDisabled) { _ = try await bench.open(.over18, alice) }
        }
    }
}

extension Refusal {
    /// The same code with a reason.
    fileprivate func with(_ reason: Reason) -> Refusal { Refusal(code, detail, reason: reason) }
}
