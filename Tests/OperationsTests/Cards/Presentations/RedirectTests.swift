import Encoding
import Fixtures
import Foundation
import Operations
import Testing

@testable import Domain

@Suite("A presentation by a wallet on the same device")
struct RedirectTests {
    @Test("proves an age and an identity, as over the Digital Credentials API", arguments: StoreKind.shared)
    func results(kind: StoreKind) async throws {
        try await PresentationBench.run(on: kind) { bench in
            let alice = try await bench.cards.withPhone("alice", "+14155552671")
            let age = try await bench.begin(.over18, alice)
            #expect(try await bench.state(age, alice) == .open)
            let code = try await bench.post(age.answer(bench.mint(.over18)), to: age)
            #expect(try await bench.state(age, alice) == .received)
            #expect(try await bench.count("age_proofs") == 0)
            #expect(try await bench.redeem(age, code, alice).isReached == true)
            #expect(try await bench.state(age, alice) == .accepted)
            #expect(try await bench.ages(of: alice)?.proof == .over18)
            let younger = try await bench.begin(.over21, alice)
            let denied = try await bench.post(younger.answer(bench.mint(.over21, false)), to: younger)
            #expect(try await bench.redeem(younger, denied, alice).isReached == false)
            let identity = try await bench.begin(.identity, alice)
            let shown = try await bench.post(identity.answer(bench.mint(.identity)), to: identity)
            let card = try #require(try await bench.redeem(identity, shown, alice).card)
            #expect(card.status == .verified && card.assurance == .credential)
            #expect(card.facts.fullName == "ALICE SAMPLE" && card.facts.jurisdiction == "VA")
            #expect(card.facts.source == .mobileDocument && card.facts.kind == .licence)
            #expect(try await bench.count(bench.kept) == 0)
            #expect(try await bench.count("presentations WHERE sealed_key IS NOT NULL") == 0)
        }
    }

    @Test("of a PID has a key binding for the service's name")
    func personIdentification() async throws {
        try await PresentationBench.run { bench in
            let alice = try await bench.cards.withPhone("alice", "+14155552671")
            let mint = CredentialMint.person("SAMPLE", bench.wallet.issuer)
            let begun = try await bench.begin(.identity, alice)
            let request = try begun.received.request()
            #expect(request.channel.audience?.hasPrefix("x509_hash:") == true)
            let answer = try begun.received.answer(token: try mint.presentation(for: request), as: "pid")
            let code = try await bench.post(answer.response, to: begun)
            let card = try #require(try await bench.redeem(begun, code, alice).card)
            #expect(card.assurance == .credential && card.facts.source == .selectiveDisclosure)
            // The same credential, bound to the page of the other channel.
            let other = try await bench.begin(.identity, alice)
            let sent = try other.received.request()
            let swapped = PresentationRequest(
                channel: .digitalCredentials(origin: StandInWallet.origin), nonce: sent.nonce,
                keyThumbprint: sent.keyThumbprint, credentials: [])
            let wrong = try other.received.answer(token: try mint.presentation(for: swapped), as: "pid")
            #expect(await Self.refusal { _ = try await bench.post(wrong.response, to: other) }?.reason == .replayed)
        }
    }

    @Test("is asked for by a request that names where the answer goes, as often as the wallet fetches it")
    func request() async throws {
        try await PresentationBench.run { bench in
            let alice = try await bench.cards.phones.person("alice")
            let begun = try await bench.begin(.over18, alice)
            let payload = try begun.received.payload()
            let base = ServiceFixture.urls.issuer
            #expect(payload["response_mode"]?.text == "direct_post.jwt" && payload["expected_origins"] == nil)
            #expect(payload["response_uri"]?.text == "\(base)/wallet/responses/\(begun.request)")
            #expect(payload["state"]?.text == begun.request && payload["wallet_nonce"] == nil)
            let client = try #require(payload["client_id"]?.text)
            let items = try #require(URLComponents(string: begun.url)?.queryItems)
            #expect(begun.url.hasPrefix("openid4vp://?"))
            #expect(
                items == [
                    URLQueryItem(name: "client_id", value: client),
                    URLQueryItem(name: "request_uri", value: "\(base)/wallet/requests/\(begun.request)"),
                    URLQueryItem(name: "request_uri_method", value: "post"),
                ])
            // Four secrets, each of its own.
            let nonce = try #require(payload["nonce"]?.text)
            #expect(Set([begun.id.description, begun.request, nonce]).count == 3)
            let context = bench.fixture.context
            let again = ReceivedRequest(
                .openID4VP,
                .object([
                    "request": .string(try await context.readRequestObject(begun.request, walletNonce: "n-1"))
                ]))
            #expect(try again.payload()["wallet_nonce"]?.text == "n-1")
            #expect(try again.payload()["nonce"]?.text == nonce)
            #expect(
                await Self.refusal {
                    _ = try await context.readRequestObject(
                        begun.request, walletNonce: String(repeating: "n", count: 513))
                }?.code == .malformedRequest)
            for unknown in ["", "x", begun.id.description, nonce] {
                await #expect(throws: Refusal.unknownWalletRequest, "\(unknown)") {
                    _ = try await context.readRequestObject(unknown, walletNonce: nil)
                }
                await #expect(throws: Refusal.unknownWalletRequest, "\(unknown)") {
                    _ = try await context.receiveResponse("x", to: unknown)
                }
            }
            _ = try await bench.post(begun.answer(bench.mint(.over18)), to: begun)
            await #expect(throws: Refusal.unknownWalletRequest) {
                _ = try await context.readRequestObject(begun.request, walletNonce: nil)
            }
            let late = try await bench.begin(.over18, alice)
            bench.fixture.clock.advance(301)
            await #expect(throws: Refusal.unknownWalletRequest) {
                _ = try await context.readRequestObject(late.request, walletNonce: nil)
            }
            let answer = try late.answer(bench.mint(.over18))
            #expect(await Self.refusal { _ = try await bench.post(answer, to: late) }?.state == "expired")
        }
    }

    @Test("is redeemed once, in two minutes, by the code of its own wallet")
    func codes() async throws {
        try await PresentationBench.run { bench in
            let alice = try await bench.cards.phones.person("alice")
            let (begun, other) = (try await bench.begin(.over18, alice), try await bench.begin(.over18, alice))
            await #expect(throws: Refusal.unknownResponseCode) { _ = try await bench.redeem(begun, "x", alice) }
            let code = try await bench.post(begun.answer(bench.mint(.over18)), to: begun)
            for wrong in ["", "x", begun.request, String(code.dropLast())] {
                await #expect(throws: Refusal.unknownResponseCode, "\(wrong)") {
                    _ = try await bench.redeem(begun, wrong, alice)
                }
            }
            #expect(try await bench.redeem(begun, code, alice).isReached == true)
            #expect(await Self.refusal { _ = try await bench.redeem(begun, code, alice) }?.state == "answered")
            let late = try await bench.post(other.answer(bench.mint(.over18)), to: other)
            bench.fixture.clock.advance(121)
            #expect(await Self.refusal { _ = try await bench.redeem(other, late, alice) }?.state == "expired")
            #expect(try await bench.state(other, alice) == .expired)
            #expect(try await bench.count(bench.kept) == 1)
            try await bench.fixture.housekeeping()
            #expect(try await bench.count(bench.kept) == 0)
            #expect(try await bench.state(other, alice) == .expired)
            bench.fixture.clock.advance(3600)
            try await bench.fixture.housekeeping()
            #expect(try await bench.count("presentations") == 0)
        }
    }

    @Test("is discarded if its code comes from another session or for another presentation")
    func owners() async throws {
        try await PresentationBench.run { bench in
            let (alice, bob) = (
                try await bench.cards.phones.person("alice"), try await bench.cards.phones.person("bob")
            )
            let second = PhoneBench.Person(
                session: try await bench.fixture.opened("alice", on: alice.connection).session,
                connection: alice.connection)
            for stranger in [bob, second] {
                let begun = try await bench.begin(.over18, alice)
                let own = try await bench.begin(.over18, stranger)
                let code = try await bench.post(begun.answer(bench.mint(.over18)), to: begun)
                // Somebody else's wallet was led to the request of Alice, and returned to the app of that person.
                await #expect(throws: Refusal.unknownPresentation) { _ = try await bench.redeem(own, code, stranger) }
                #expect(try await bench.count(bench.kept) == 0)
                #expect(await Self.refusal { _ = try await bench.redeem(begun, code, alice) }?.state == "expired")
                #expect(try await bench.state(own, stranger) == .open)
            }
            let (begun, other) = (try await bench.begin(.over18, bob), try await bench.begin(.over18, bob))
            let code = try await bench.post(begun.answer(bench.mint(.over18)), to: begun)
            await #expect(throws: Refusal.unknownPresentation) { _ = try await bench.redeem(other, code, bob) }
            #expect(try await bench.count(bench.kept) == 0)
            #expect(try await bench.count("age_proofs") == 0)
        }
    }

    @Test("is checked at its arrival: what is refused ends it, and what cannot be read leaves it open")
    func arrival() async throws {
        try await PresentationBench.run { bench in
            let alice = try await bench.cards.phones.person("alice")
            let (begun, other) = (try await bench.begin(.over18, alice), try await bench.begin(.over18, alice))
            let foreign = try other.answer(bench.mint(.over18))
            #expect(await Self.refusal { _ = try await bench.post("x", to: begun) }?.reason == .malformed)
            #expect(await Self.refusal { _ = try await bench.post(foreign, to: begun) }?.reason == .wrongKey)
            #expect(try await bench.state(begun, alice) == .open)
            let sent = try begun.received.request()
            let swapped = PresentationRequest(
                channel: .digitalCredentials(origin: StandInWallet.origin), nonce: sent.nonce,
                keyThumbprint: sent.keyThumbprint, credentials: [])
            let wrong = try begun.received.answer(presenting: try bench.mint(.over18).response(to: swapped)).response
            #expect(await Self.refusal { _ = try await bench.post(wrong, to: begun) }?.reason == .deviceSignature)
            let read = try await bench.fixture.context.readPresentation(begun.id.description, for: alice.session)
            #expect(read.state == .refused && read.reason == "device_signature")
            let right = try begun.answer(bench.mint(.over18))
            #expect(await Self.refusal { _ = try await bench.post(right, to: begun) }?.state == "answered")
            for _ in 1...Presentation.maximumAttempts {
                #expect(await Self.refusal { _ = try await bench.post("x", to: other) }?.reason == .malformed)
            }
            let last = await Self.refusal { _ = try await bench.post(foreign, to: other) }
            #expect(last?.code == .rateLimited && last?.detail.contains("Begin a new presentation") == true)
        }
    }

    @Test("takes no turn of the writers for an answer that changes nothing")
    func turns() async throws {
        try await PresentationBench.run { bench in
            let alice = try await bench.cards.phones.person("alice")
            let counter = StatementCounter(bench.fixture.store)
            let context = bench.fixture.context(store: counter)
            let (begun, other) = (try await bench.begin(.over18, alice), try await bench.begin(.over18, alice))
            let answer = try begun.answer(bench.mint(.over18))
            let code = try await bench.post(answer, to: begun, on: context)
            for _ in 1...Presentation.maximumAttempts {
                await #expect(throws: Refusal.self) { _ = try await bench.post("x", to: other, on: context) }
            }
            #expect(counter.take().statements > 0)
            await #expect(throws: Refusal.unknownWalletRequest) { try await context.receiveResponse("x", to: "x") }
            await #expect(throws: Refusal.self) { try await bench.post("x", to: begun, on: context) }
            #expect(await Self.refusal { _ = try await bench.post("x", to: other, on: context) }?.code == .rateLimited)
            #expect(try await bench.post(answer, to: begun, on: context) == code)
            #expect(counter.take().statements == 0)
        }
    }

    @Test("is refused if its answer has the state of another request")
    func states() async throws {
        try await PresentationBench.run { bench in
            let alice = try await bench.cards.phones.person("alice")
            let other = try await bench.begin(.over18, alice)
            func code(_ state: JSONValue) async throws -> String {
                let begun = try await bench.begin(.over18, alice)
                var received = begun.received
                received.returnedState = state
                let document = try bench.mint(.over18).response(to: received.request())
                return try await bench.post(received.answer(presenting: document).response, to: begun)
            }
            #expect(await Self.refusal { _ = try await code(.string(other.request)) }?.reason == .replayed)
            #expect(try await !code(.null).isEmpty)
        }
    }

    @Test("gets the same response again if the wallet repeats its answer, and a conflict for another answer")
    func repeated() async throws {
        try await PresentationBench.run { bench in
            let alice = try await bench.cards.phones.person("alice")
            let begun = try await bench.begin(.over18, alice)
            let (answer, other) = (
                try begun.answer(bench.mint(.over18)), try begun.answer(bench.mint(.over18, false))
            )
            let code = try await bench.post(answer, to: begun)
            for _ in 1...10 { #expect(try await bench.post(answer, to: begun) == code) }
            #expect(await Self.refusal { _ = try await bench.post(other, to: begun) }?.state == "answered")
            #expect(try await bench.redeem(begun, code, alice).isReached == true)
            #expect(await Self.refusal { _ = try await bench.post(answer, to: begun) }?.state == "answered")
        }
    }

    @Test("is begun with a registered address, and counts with the other channel")
    func openings() async throws {
        try await PresentationBench.run { bench in
            let alice = try await bench.cards.phones.person("alice")
            let context = bench.fixture.context
            for address in [
                "", StandInWallet.origin, "https://app.example/other", StandInWallet.returnAddress + "#", "app:/wallet",
            ] {
                await #expect(throws: Refusal.returnAddressUnregistered, "\(address)") {
                    _ = try await context.openRedirect(.over18, returningTo: address, for: alice.session)
                }
            }
            await #expect(throws: Refusal.originUnregistered) {
                _ = try await context.openPresentation(
                    .over18, origin: StandInWallet.returnAddress, for: alice.session)
            }
            await #expect(throws: Refusal.phoneRequired) { _ = try await bench.begin(.identity, alice) }
            for _ in 1...2 { _ = try await bench.begin(.over18, alice) }
            _ = try await bench.open(.over18, alice)
            await #expect(throws: Refusal.tooManyRequests(retryAfter: 1)) { _ = try await bench.begin(.over18, alice) }
        }
    }

    @Test("is answered by its own channel only")
    func channels() async throws {
        try await PresentationBench.run { bench in
            let alice = try await bench.cards.phones.person("alice")
            let (begun, opened) = (try await bench.begin(.over18, alice), try await bench.open(.over18, alice))
            let answer = try begun.answer(bench.mint(.over18))
            await #expect(throws: Refusal.otherChannel) {
                _ = try await bench.fixture.context.answerPresentation(
                    begun.id.description, WalletAnswer(.openID4VP, response: answer), for: alice.session)
            }
            await #expect(throws: Refusal.otherChannel) {
                _ = try await bench.fixture.context.redeemResponse(
                    opened.id.description, code: "x", for: alice.session)
            }
            #expect(try await bench.count("presentations WHERE attempts > 0") == 0)
        }
    }

    static func refusal(_ act: () async throws -> Void) async -> Refusal? {
        do {
            try await act()
            return nil
        } catch { return error as? Refusal }
    }
}
