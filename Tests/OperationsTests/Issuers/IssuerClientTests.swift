import Database
import Domain
import Encoding
import Fixtures
import Testing
import Tokens

@testable import Operations

@Suite("Clients of an issuer")
struct IssuerClientTests {
    private static func signIn(
        _ issuer: StandInIssuer, audience: String, party: String? = nil, on fixture: ServiceFixture
    ) async throws -> ProviderID {
        let connection = try await fixture.connectNewDevice()
        let token = try issuer.idToken(
            "anna", nonce: fixture.context.issueNonce(connection).nonce, now: fixture.clock.now
        ) {
            $0[claim: "aud"] = .string(audience)
            if let party { $0[claim: "azp"] = .string(party) }
        }
        return try await fixture.context.openSession(identityToken: token, applicationID: nil, on: connection).session
            .providerID
    }

    private static func clients(_ audiences: [String] = [], parties: [String] = []) -> ProviderIssuer.Clients {
        ProviderIssuer.Clients(audiences: audiences, parties: parties)
    }

    @Test("Tokens for an added audience sign in, those for a removed one do not, and the audit log names both")
    func audiences() async throws {
        try await ServiceFixture.run { fixture in
            let issuer = StandInIssuer([("k", try ProviderSigner(.es256))], audience: "app")
            let provider = try await issuer.register(on: fixture).provider.id
            let admin = fixture.admin
            let wrong = Refusal(.invalidIdentityToken, "", reason: .wrongAudience)
            await #expect(throws: wrong) { try await Self.signIn(issuer, audience: "web", on: fixture) }
            #expect(
                try await admin.addIssuerClients(Self.clients(["web"]), to: "idp-example").audiences == ["app", "web"])
            try await fixture.watch.poll()
            #expect(try await Self.signIn(issuer, audience: "web", on: fixture) == provider)
            // The first one gives its place to the next.
            let left = try await admin.removeIssuerClients(
                Self.clients(["app"]), from: "idp-example", allowingAnyParty: false)
            #expect(left.audiences == ["web"])
            try await fixture.watch.poll()
            await #expect(throws: wrong) { try await Self.signIn(issuer, audience: "app", on: fixture) }
            #expect(try await Self.signIn(issuer, audience: "web", on: fixture) == provider)
            let details = try await fixture.store.read { transaction in
                try transaction.query(
                    "SELECT detail FROM audit_entries WHERE subject = $1 AND event = $2",
                    [.text("provider \(provider)"), .text("provider_changed")]
                ).map { try $0.text(0) }
            }
            #expect(details.sorted() == ["audience app removed", "audience web added"])
        }
    }

    @Test("An audience that one provider gave up is another's at once, on every node")
    func moved() async throws {
        try await ServiceFixture.run { fixture in
            let signer = try ProviderSigner(.es256)
            let first = StandInIssuer([("k", signer)], audience: "app")
            let old = try await first.register(on: fixture).provider.id
            let new = try await StandInIssuer([("k", signer)], audience: "other").register(on: fixture, slug: "new")
                .provider.id
            let admin = fixture.admin
            _ = try await admin.addIssuerClients(Self.clients(["web"]), to: "idp-example")
            try await fixture.watch.poll()
            #expect(try await Self.signIn(first, audience: "web", on: fixture) == old)
            await #expect(throws: Refusal(.conflict, "", state: "registered")) {
                try await admin.addIssuerClients(Self.clients(["web"]), to: "new")
            }
            _ = try await admin.removeIssuerClients(Self.clients(["web"]), from: "idp-example", allowingAnyParty: false)
            _ = try await admin.addIssuerClients(Self.clients(["web"]), to: "new")
            try await fixture.watch.poll()
            #expect(try await Self.signIn(first, audience: "web", on: fixture) == new)
        }
    }

    @Test("A first party excludes other clients, and the last one is removed only if any client may follow")
    func parties() async throws {
        try await ServiceFixture.run { fixture in
            let issuer = StandInIssuer([("k", try ProviderSigner(.es256))], audience: "app")
            let provider = try await issuer.register(on: fixture).provider.id
            let admin = fixture.admin
            #expect(try await Self.signIn(issuer, audience: "app", party: "tablet", on: fixture) == provider)
            #expect(
                try await admin.addIssuerClients(Self.clients(parties: ["phone"]), to: "idp-example").parties == [
                    "phone"
                ])
            try await fixture.watch.poll()
            await #expect(throws: Refusal(.invalidIdentityToken, "", reason: .wrongAudience)) {
                try await Self.signIn(issuer, audience: "app", party: "tablet", on: fixture)
            }
            await #expect(throws: Refusal(.conflict, "", state: "last_party")) {
                try await admin.removeIssuerClients(
                    Self.clients(parties: ["phone"]), from: "idp-example", allowingAnyParty: false)
            }
            let preview = try await admin.previewRemoval(
                of: Self.clients(parties: ["phone"]), from: "idp-example", allowingAnyParty: true)
            #expect(preview.parties.isEmpty)
            #expect(try await admin.issuerClients(of: "idp-example").parties == ["phone"])
            _ = try await admin.removeIssuerClients(
                Self.clients(parties: ["phone"]), from: "idp-example", allowingAnyParty: true)
            try await fixture.watch.poll()
            #expect(try await Self.signIn(issuer, audience: "app", party: "tablet", on: fixture) == provider)
        }
    }

    @Test("What cannot be is refused, and changes nothing")
    func refusals() async throws {
        try await ServiceFixture.run { fixture in
            let issuer = StandInIssuer([("k", try ProviderSigner(.es256))], audience: "app")
            _ = try await issuer.register(on: fixture)
            let admin = fixture.admin
            let many = (0..<16).map { "client-\($0)" }
            func expect(_ refusal: Refusal, _ act: () async throws -> ProviderIssuer) async {
                await #expect(throws: refusal) { try await act() }
            }
            await expect(Refusal(.conflict, "", state: "last_audience")) {
                try await admin.removeIssuerClients(Self.clients(["app"]), from: "idp-example", allowingAnyParty: true)
            }
            await expect(Refusal(.notFound, "")) {
                try await admin.removeIssuerClients(Self.clients(["web"]), from: "idp-example", allowingAnyParty: true)
            }
            await expect(Refusal(.conflict, "", state: "registered")) {
                try await admin.addIssuerClients(Self.clients(["web", "app"]), to: "idp-example")
            }
            await expect(Refusal(.conflict, "", state: "full")) {
                try await admin.addIssuerClients(Self.clients(many), to: "idp-example")
            }
            await expect(Refusal(.malformedRequest, "")) {
                try await admin.addIssuerClients(Self.clients(["a\u{200D}b"]), to: "idp-example")
            }
            // It signs its own identity tokens.
            await expect(Refusal(.malformedRequest, "")) {
                try await admin.addIssuerClients(Self.clients(["web"]), to: "test")
            }
            await expect(Refusal(.notFound, "")) { try await admin.issuerClients(of: "nobody") }
            #expect(try await admin.issuerClients(of: "idp-example").audiences == ["app"])
        }
    }
}
