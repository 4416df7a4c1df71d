import Domain
import Encoding
import Fixtures
import Foundation
import Testing
import Tokens

@testable import Operations

@Suite("Twenty well-known issuers")
struct KnownIssuerTests {
    /// RSA keys cost a second: all issuers here have the same.
    private static let rsa = Result { try ProviderSigner(.rs256) }

    /// What an issuer's provider needs to be tried.
    private struct World {
        let fixture: ServiceFixture
        let issuer: KnownIssuer
        let signer: ProviderSigner
        let caller: Service.ProvenProvider

        init(_ issuer: KnownIssuer, on fixture: ServiceFixture) async throws {
            (self.fixture, self.issuer) = (fixture, issuer)
            signer = try issuer.algorithm == .rs256 ? KnownIssuerTests.rsa.get() : ProviderSigner(issuer.algorithm)
            var standIn = StandInIssuer([(issuer.kid, signer)], at: issuer.url, audience: issuer.audience)
            standIn.otherAudiences = issuer.otherAudiences
            let provider = try await standIn.register(on: fixture).provider.id
            let own = try ProviderSigner(.es256)
            let key = try await fixture.admin.addProviderKey(try own.verificationKey, to: provider)
            try await fixture.watch.poll()
            caller = try await fixture.context.authenticateProvider(
                try own.providerToken(
                    provider: provider, kid: key, realm: ServiceFixture.realm, now: fixture.clock.now),
                for: nil, in: ProvenRequest(method: "GET", path: "/provider", body: []), at: .free)
        }

        func token(on connection: ClientConnection, edit: (inout TokenDraft) -> Void = { _ in }) throws -> String {
            var draft = try issuer.draft(nonce: fixture.context.issueNonce(connection).nonce, now: fixture.clock.now)
            edit(&draft)
            return try signer.sign(draft)
        }
    }

    @Test("have a page that describes their ID tokens, and a name of their own")
    func sources() {
        #expect(Set(KnownIssuer.all.map(\.name)).count == KnownIssuer.all.count)
        for issuer in KnownIssuer.all {
            let isPage = issuer.source.wholeMatch(of: /[a-z0-9.\-]+\.[a-z]+\/[\x21-\x7E]+/) != nil
            #expect(isPage, "\(issuer.name): \(issuer.source)")
        }
    }

    @Test("sign their users in, each in its own way; a planted error is refused, and token-check says what it is")
    func table() async throws {
        #expect(KnownIssuer.all.count == 20)
        try await ServiceFixture.run { fixture in
            for issuer in KnownIssuer.all {
                let world = try await World(issuer, on: fixture)
                let connection = try await fixture.connectNewDevice()
                let good = try world.token(on: connection)
                let report = try await fixture.context.checkIdentityToken(good, for: world.caller)
                #expect(report.defects.isEmpty, "\(issuer.name): \(report.defects)")
                #expect(report.ignored.map(\.name) == issuer.ignored, "\(issuer.name)")
                let opened = try await fixture.context.openSession(
                    identityToken: good, applicationID: nil, on: connection)
                #expect(opened.session.providerID == world.caller.id, "\(issuer.name)")
                #expect(opened.ignoredClaims == issuer.ignored, "\(issuer.name)")

                let bad = try world.token(on: connection, edit: issuer.planted.edit)
                let reason = issuer.planted.reason
                await #expect(throws: Refusal(.invalidIdentityToken, "", reason: reason), "\(issuer.name)") {
                    try await fixture.context.openSession(identityToken: bad, applicationID: nil, on: connection)
                }
                let found = try await fixture.context.checkIdentityToken(bad, for: world.caller).defects
                #expect(
                    found.contains { $0.reason == reason && $0.detail.contains(issuer.planted.sentence) },
                    "\(issuer.name): \(found)")
            }
        }
    }

    @Test("show a provider no sign-in with a token for another audience of its issuer")
    func otherAudience() async throws {
        try await ServiceFixture.run { fixture in
            let world = try await World(try #require(KnownIssuer.all.first), on: fixture)
            let connection = try await fixture.connectNewDevice()
            let opened = try await fixture.context.openSession(
                identityToken: try world.token(on: connection), applicationID: nil, on: connection)
            let foreign = try world.token(on: connection) { $0[claim: "aud"] = .string("another-app") }
            await #expect(throws: Refusal.self) {
                try await fixture.context.openSession(identityToken: foreign, applicationID: nil, on: connection)
            }
            try await WriteSignIns(fixture.context)()
            let history = try await fixture.context.readUserHistory(
                opened.session.externalID, of: world.caller.id, after: nil)
            let accepted = history.events.compactMap { event in
                if case .signIn(let attempt) = event { attempt.isAccepted } else { nil }
            }
            #expect(accepted == [true])
        }
    }
}
