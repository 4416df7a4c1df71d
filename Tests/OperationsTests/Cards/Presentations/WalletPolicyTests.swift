import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Testing

@Suite("The policy for wallets")
struct WalletPolicyTests {
    private static func policy(_ change: (inout WalletPolicy) -> Void) -> Policy {
        var policy = PresentationBench.policy
        change(&policy.wallet)
        return policy
    }

    @Test("permits each channel by itself")
    func channels() async throws {
        try await PresentationBench.run { bench in
            let alice = try await bench.cards.phones.person("alice")
            let (begun, opened) = (try await bench.begin(.over18, alice), try await bench.open(.over18, alice))
            let answer = try begun.answer(bench.mint(.over18))
            let context = bench.fixture.context
            bench.fixture.policy.replace(with: Self.policy { $0.channels = [.digitalCredentials] })
            await #expect(throws: Refusal.channelDisabled) { _ = try await bench.begin(.over18, alice) }
            await #expect(throws: Refusal.channelDisabled) { _ = try await bench.post(answer, to: begun) }
            await #expect(throws: Refusal.channelDisabled) { _ = try await bench.redeem(begun, "x", alice) }
            await #expect(throws: Refusal.channelDisabled) {
                _ = try await context.readRequestObject(begun.request, walletNonce: nil)
            }
            _ = try await bench.open(.over18, alice)
            bench.fixture.policy.replace(with: Self.policy { $0.channels = [.sameDevice] })
            await #expect(throws: Refusal.channelDisabled) { _ = try await bench.open(.over18, alice) }
            let shown = try bench.answer(opened, bench.mint(.over18), by: .isoDocument)
            await #expect(throws: Refusal.channelDisabled) {
                _ = try await context.answerPresentation(opened.id.description, shown, for: alice.session)
            }
            #expect(try await bench.redeem(begun, bench.post(answer, to: begun), alice).isReached == true)
        }
    }

    @Test("limits what is asked for, and accepted, to its formats")
    func formats() async throws {
        try await PresentationBench.run { bench in
            let alice = try await bench.cards.withPhone("alice", "+14155552671")
            func asked(_ opened: OpenedPresentation) throws -> [String] {
                let payload = try ReceivedRequest(opened, by: .openID4VP).payload()
                guard case .array(let credentials)? = payload["dcql_query"]?["credentials"],
                    case .object(let formats)? = payload["client_metadata"]?["vp_formats_supported"]
                else { return [] }
                return credentials.compactMap { $0["id"]?.text } + formats.map(\.name)
            }
            let before = try await bench.open(.identity, alice)
            #expect(try asked(before) == ["mdl", "pid", "mso_mdoc", "dc+sd-jwt"])
            bench.fixture.policy.replace(with: Self.policy { $0.formats = [.selectiveDisclosure] })
            await #expect(throws: Refusal.formatsDisabled) { _ = try await bench.open(.over18, alice) }
            await #expect(throws: Refusal.formatsDisabled) { _ = try await bench.begin(.over21, alice) }
            let opened = try await bench.open(.identity, alice)
            #expect(try asked(opened) == ["pid", "dc+sd-jwt"] && opened.isoDocument == nil)
            for walletProtocol in Presentation.WalletProtocol.allCases {
                let answer = try bench.answer(before, bench.mint(.identity), by: walletProtocol)
                let refusal = await RedirectTests.refusal {
                    _ = try await bench.fixture.context.answerPresentation(
                        before.id.description, answer, for: alice.session)
                }
                #expect(refusal?.reason == .notAsked || refusal?.state == "answered", "\(walletProtocol)")
            }
            bench.fixture.policy.replace(with: Self.policy { $0.formats = [.mobileDocument] })
            #expect(try asked(try await bench.open(.identity, alice)) == ["mdl", "mso_mdoc"])
        }
    }

    @Test("names the service by its certificate or a DNS name, and the query names the issuers")
    func names() async throws {
        try await PresentationBench.run { bench in
            let alice = try await bench.cards.phones.person("alice")
            let clock = bench.fixture.clock
            let wallet = try bench.wallet.verification(
                dnsName: "id.example", keyIdentifier: [1, 2, 3], now: { clock.now })
            let service = bench.fixture.context(wallet: wallet)
            let begun = try await bench.begin(.over18, alice, on: service)
            let payload = try begun.received.payload()
            #expect(payload["client_id"]?.text == "x509_san_dns:id.example")
            #expect(begun.url.contains("client_id=x509_san_dns%3Aid.example&"))
            let authorities = JSONValue.array([
                .object(["type": .string("aki"), "values": .array([.string(Base64URL.encode([1, 2, 3]))])])
            ])
            guard case .array(let credentials)? = payload["dcql_query"]?["credentials"] else {
                Issue.record("There is no query.")
                return
            }
            #expect(credentials.map { $0["trusted_authorities"] } == [authorities, authorities])
            let answer = try begun.answer(bench.mint(.over18))
            let code = try await bench.post(answer, to: begun, on: service)
            #expect(try await bench.redeem(begun, code, alice, on: service).isReached == true)
            // Issuers whose keys have no identifier are not named.
            let other = try await bench.begin(.over18, alice).received.payload()
            #expect(other["client_id"]?.text?.hasPrefix("x509_hash:") == true)
            guard case .array(let unnamed)? = other["dcql_query"]?["credentials"] else { return }
            #expect(unnamed.count == 2 && unnamed.allSatisfy { $0["trusted_authorities"] == nil })
        }
    }

    @Test("sends an identity with an unknown status to a reviewer, and refuses an age")
    func unknownStatus() async throws {
        try await PresentationBench.run(Self.policy { $0.statusUnknown = .review }) { bench in
            let alice = try await bench.cards.withPhone("alice", "+14155552671")
            func mint(_ wanted: Presentation.Wanted) -> DocumentMint {
                var mint = bench.mint(wanted)
                mint.status = .map([
                    "status_list": .map(["idx": .unsigned(1), "uri": .text("https://dmv.example/status/1")])
                ])
                return mint
            }
            let age = try await bench.begin(.over18, alice)
            let refusal = await RedirectTests.refusal { _ = try await bench.post(age.answer(mint(.over18)), to: age) }
            #expect(refusal?.reason == .statusUnknown)
            let identity = try await bench.begin(.identity, alice)
            let code = try await bench.post(identity.answer(mint(.identity)), to: identity)
            let card = try #require(try await bench.redeem(identity, code, alice).card)
            #expect(card.status == .inReview && card.assurance == .phone)
            #expect(card.checks.contains(.unknownStatus))
            // Everything else is still required, and a known status decides.
            let forged = try await bench.begin(.identity, alice)
            var foreign = DocumentMint(try WalletIssuer())
            (foreign.elements, foreign.status) = (StandInWallet.licence, mint(.identity).status)
            let answer = try forged.answer(foreign)
            #expect(
                await RedirectTests.refusal { _ = try await bench.post(answer, to: forged) }?.reason
                    == .issuerCertificate)
            try bench.wallet.publish(StatusListMint(bench.wallet.issuer))
            // A list that could not be fetched is not fetched again for half a minute.
            bench.fixture.clock.advance(31)
            let revoked = try await bench.begin(.identity, alice)
            let known = try revoked.answer(mint(.identity))
            #expect(await RedirectTests.refusal { _ = try await bench.post(known, to: revoked) }?.reason == .revoked)
        }
    }

    @Test("limits the ages that one credential proves in a week, for whichever users, and names no user")
    func ageProofs() async throws {
        try await PresentationBench.run(Self.policy { $0.ageProofsPerCredential = 2 }) { bench in
            let mint = bench.mint(.over18)
            func prove(_ name: String) async throws -> Bool? {
                let person = try await bench.cards.phones.person(name)
                let begun = try await bench.begin(.over18, person)
                return try await bench.redeem(begun, bench.post(begun.answer(mint), to: begun), person).isReached
            }
            for name in ["alice", "bob"] { #expect(try await prove(name) == true) }
            #expect(await RedirectTests.refusal { _ = try await prove("carol") }?.code == .rateLimited)
            #expect(try await bench.count("age_proofs") == 2)
            // An age that is not reached counts nothing, and another credential is another one.
            var other = bench.mint(.over18, false)
            other.deviceKey = mint.deviceKey
            let dave = try await bench.cards.phones.person("dave")
            let opened = try await bench.open(.over18, dave)
            let outcome = try await bench.fixture.context.answerPresentation(
                opened.id.description, bench.answer(opened, other, by: .isoDocument), for: dave.session)
            #expect(outcome.isReached == false)
            #expect(try await bench.present(.over18, dave).isReached == true)
            let keys = try await bench.fixture.store.read { transaction in
                try transaction.query("SELECT key FROM rates WHERE key LIKE 'age credential %'").map { try $0.text(0) }
            }
            #expect(keys.count == 3)
            bench.fixture.clock.advance(604_801)
            #expect(try await prove("erin") == true)
        }
    }
}
