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
}
