import Domain
import Fixtures
import Foundation
import Operations
import Testing
import Tokens

@Suite("Hidden characters in what admins write")
struct HiddenCharacterTests {
    private static let hidden = ["a\u{1B}[2Kb", "a\u{202E}b", "a\u{9B}b", "a\u{200B}b", "a\u{2028}b"]
    private static let invisible = hidden + ["Acme\u{3164}", "Ac\u{34F}me", "Acme\u{FE0F}", "Acme\u{2800}"]
    private static let refused = Refusal(.malformedRequest, "")

    @Test("are refused in the notes of bans and lifts, and in the reasons of reviewers, before anything is done")
    func notes() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            _ = try await bench.phones.person("alice")
            let done = try await bench.ban(.user("test/alice"), note: "Said:\n\t\u{201C}no\u{201D}")
            for text in Self.invisible {
                #expect(throws: Self.refused) { try bench.order(.user("test/alice"), note: text) }
                await #expect(throws: Self.refused) { try await bench.admin.liftBan(done.ban.id, note: text) }
                await #expect(throws: Self.refused) {
                    try await bench.admin.liftBans(on: .user("test/alice"), note: text)
                }
                await #expect(throws: Self.refused) {
                    try await bench.admin.rejectCard(IdentityCardID(UUID()), reason: text)
                }
            }
            let long = String(repeating: "a", count: Ban.maximumNote + 1)
            await #expect(throws: Self.refused) { try await bench.admin.liftBan(done.ban.id, note: long) }
            #expect(try await bench.admin.liftBan(done.ban.id, note: "a mistake").id == done.ban.id)
        }
    }

    @Test("are refused in the names of providers, accounts and apps")
    func names() async throws {
        try await ServiceFixture.run { fixture in
            let key = try ProviderSigner(.es256).verificationKey
            for text in Self.invisible {
                await #expect(throws: Self.refused) {
                    try await fixture.admin.addProvider(name: text, slug: nil, account: nil, avatarHosts: [], key: key)
                }
                await #expect(throws: Self.refused) {
                    try await fixture.admin.addProvider(
                        name: "Good", slug: nil, account: text, avatarHosts: [], key: key)
                }
                await #expect(throws: Self.refused) { try await fixture.admin.addApplication(text, to: "test") }
            }
            #expect(try await fixture.admin.listProviders().map(\.slug.text) == ["test"])
            let good = try await fixture.admin.addProvider(
                name: "Zoë’s 山田", slug: nil, account: nil, avatarHosts: [], key: key)
            #expect(good.provider.name == "Zoë’s 山田")
        }
    }
}
