import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing
import Tokens

@testable import Operations

@Suite("What issuers do in their own way")
struct IssuerPeculiarityTests {
    private func refusal(_ reason: Refusal.Reason) -> Refusal { Refusal(.invalidIdentityToken, "", reason: reason) }

    private static func open(
        _ issuer: StandInIssuer, _ user: String = "anna", on fixture: ServiceFixture,
        edit: (inout TokenDraft) -> Void = { _ in }
    ) async throws -> Service.OpenedSession {
        let connection = try await fixture.connectNewDevice()
        let token = try issuer.idToken(
            user, nonce: fixture.context.issueNonce(connection).nonce, now: fixture.clock.now, edit: edit)
        return try await fixture.context.openSession(identityToken: token, applicationID: nil, on: connection)
    }

    @Test("A token for one audience may be requested by any client, which is written down once, or by registered ones")
    func parties() async throws {
        try await ServiceFixture.run { fixture in
            let issuer = StandInIssuer([("k", try ProviderSigner(.es256))], audience: "web")
            let provider = try await issuer.register(on: fixture).provider.id
            for _ in 0..<2 {
                for party in [JSONValue.string("android"), .string("web"), .null] {
                    let opened = try await Self.open(issuer, on: fixture) { $0[claim: "azp"] = party }
                    #expect(opened.session.providerID == provider)
                }
            }
            let entries = try await fixture.store.read { transaction in
                try transaction.query(
                    "SELECT detail FROM audit_entries WHERE subject = $1 AND detail LIKE '%azp%' ORDER BY id",
                    [.text("provider \(provider)")]
                ).map { try $0.text(0) }
            }
            #expect(entries.filter { $0.contains("client android") }.count == 1, "\(entries)")
            var strict = StandInIssuer(
                issuer.keys.map { ($0.kid, $0.signer) }, at: "https://strict.example", audience: "web")
            strict.parties = ["android"]
            _ = try await strict.register(on: fixture)
            for party in ["android", "web"] {
                _ = try await Self.open(strict, on: fixture) { $0[claim: "azp"] = .string(party) }
            }
            _ = try await Self.open(strict, on: fixture)
            await #expect(throws: refusal(.wrongAudience)) {
                try await Self.open(strict, on: fixture) { $0[claim: "azp"] = .string("tablet") }
            }
        }
    }

    @Test("The app and the web site of one provider have two client ids and the same users")
    func audiences() async throws {
        try await ServiceFixture.run { fixture in
            var issuer = StandInIssuer([("k", try ProviderSigner(.es256))], audience: "com.example.app")
            issuer.otherAudiences = ["com.example.web"]
            _ = try await issuer.register(on: fixture)
            let app = try await Self.open(issuer, on: fixture)
            let web = try await Self.open(issuer, on: fixture) { $0[claim: "aud"] = .string("com.example.web") }
            #expect(app.session.userID == web.session.userID && app.session.id != web.session.id)
            let both = JSONValue.array([.string("com.example.app"), .string("com.example.web")])
            _ = try await Self.open(issuer, on: fixture) {
                $0[claim: "aud"] = both
                $0[claim: "azp"] = .string("com.example.web")
            }
            await #expect(throws: refusal(.wrongAudience)) {
                try await Self.open(issuer, on: fixture) {
                    $0[claim: "aud"] = .array([.string("com.example.app"), .string("other")])
                    $0[claim: "azp"] = .string("com.example.web")
                }
            }
            let second = StandInIssuer(
                issuer.keys.map { ($0.kid, $0.signer) }, at: issuer.url, audience: "com.example.web")
            await #expect(throws: Refusal(.conflict, "", state: "registered")) {
                try await second.register(on: fixture, slug: "second")
            }
        }
    }

    @Test("A client that sends another id than the app's is told which one it is")
    func mistakenIDs() async throws {
        try await ServiceFixture.run { fixture in
            let issuer = StandInIssuer([("k", try ProviderSigner(.es256))], audience: "com.example.app")
            let made = try await issuer.register(on: fixture)
            let cases = [
                (made.provider.id.description, "provider_id"), ("com.example.app", "at the issuer"),
                ("x", "no such app"),
            ]
            for proof in [IdentityProof.any, .idToken] {
                for (id, words) in cases {
                    let connection = try await fixture.connectNewDevice()
                    let token = try issuer.idToken(
                        "anna", nonce: fixture.context.issueNonce(connection).nonce, now: fixture.clock.now)
                    let refusal = await #expect(throws: Refusal(.malformedRequest, "")) {
                        try await fixture.context.openSession(
                            identityToken: token, applicationID: id, as: proof, on: connection)
                    }
                    #expect(refusal?.detail.contains(words) == true, "\(id): \(refusal?.detail ?? "")")
                    #expect(refusal?.subject == (proof == .any ? .applicationID : .clientID))
                }
            }
        }
    }

    @Test("A key without kid serves tokens without kid, and a token without kid means the only key of its alg")
    func withoutKeyID() async throws {
        try await ServiceFixture.run { fixture in
            var issuer = StandInIssuer([("", try ProviderSigner(.es256))])
            #expect(try await issuer.register(on: fixture).keyCount == 1)
            // Another provider of the same issuer has the same key.
            let other = StandInIssuer([("", issuer.keys[0].signer)], at: issuer.url, audience: "client-2")
            _ = try await other.register(on: fixture, slug: "other")
            _ = try await Self.open(issuer, on: fixture)
            await #expect(throws: refusal(.unknownKey)) {
                try await Self.open(issuer, on: fixture) { $0[header: "kid"] = .string("k") }
            }
            issuer.keys = [("a", issuer.keys[0].signer), ("b", try ProviderSigner(.edDSA))]
            try issuer.publish(on: fixture)
            fixture.clock.advance(601)
            _ = try await Self.open(issuer, on: fixture) { $0[header: "kid"] = nil }
            issuer.keys.append(("c", try ProviderSigner(.es256)))
            try issuer.publish(on: fixture)
            fixture.clock.advance(601)
            await #expect(throws: refusal(.unknownKey)) {
                try await Self.open(issuer, on: fixture) { $0[header: "kid"] = nil }
            }
        }
    }

    @Test("A kid that names another key has the key set read after a bad signature, once in a minute at most")
    func sameKeyID() async throws {
        try await ServiceFixture.run { fixture in
            let old = StandInIssuer([("k", try ProviderSigner(.es256))])
            _ = try await old.register(on: fixture)
            let new = StandInIssuer([("k", try ProviderSigner(.es256))])
            try new.publish(on: fixture, cacheControl: "max-age=86400")
            await #expect(throws: refusal(.badSignature)) { try await Self.open(new, on: fixture) }
            #expect(fixture.issuers.count(old.url) == 1)
            fixture.clock.advance(60)
            _ = try await Self.open(new, on: fixture)
            #expect(fixture.issuers.count(old.url) == 2)
            for _ in 0..<3 {
                await #expect(throws: refusal(.badSignature)) { try await Self.open(old, on: fixture) }
            }
            #expect(fixture.issuers.count(old.url) == 2)
            fixture.clock.advance(60)
            for _ in 0..<3 {
                await #expect(throws: refusal(.badSignature)) { try await Self.open(old, on: fixture) }
            }
            #expect(fixture.issuers.count(old.url) == 3)
        }
    }

    @Test("A name that nobody can show is left out of the session, not the person")
    func names() async throws {
        try await ServiceFixture.run { fixture in
            let issuer = StandInIssuer([("k", try ProviderSigner(.es256))])
            _ = try await issuer.register(on: fixture)
            let flag = "Anna \u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}"
            for name in [JSONValue.null, .string(""), .string(String(repeating: "a", count: 300)), .string(flag)] {
                let opened = try await Self.open(issuer, on: fixture) {
                    $0[claim: "name"] = name
                    $0[claim: "picture"] = .string("https://elsewhere.example/a.png")
                }
                #expect(opened.ignoredClaims == ["name", "picture"])
            }
        }
    }
}
