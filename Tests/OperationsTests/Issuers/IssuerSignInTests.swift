import Domain
import Encoding
import Fixtures
import Foundation
import Testing
import Tokens

@testable import Operations

@Suite("Sign-ins by ID tokens")
struct IssuerSignInTests {
    private func refusal(_ reason: Refusal.Reason) -> Refusal { Refusal(.invalidIdentityToken, "", reason: reason) }

    @Test(
        "open the same sessions as identity tokens: nonce spent once, bound to the device, profile kept, introspected")
    func opens() async throws {
        try await ServiceFixture.run { fixture in
            let issuer = StandInIssuer([("k-1", try ProviderSigner(.es256))])
            let registered = try await issuer.register(on: fixture, avatarHosts: ["img.example"])
            #expect(registered.provider.slug.text == "idp-example" && registered.keyCount == 1)
            let (connection, now) = (try await fixture.connectNewDevice(), fixture.clock.now)
            let token = try issuer.idToken("al ice", nonce: fixture.context.issueNonce(connection).nonce, now: now) {
                $0[claim: "name"] = .string("Alice")
                $0[claim: "picture"] = .string("https://img.example/a.png")
            }
            let other = try await fixture.connectNewDevice()
            await #expect(throws: refusal(.nonceOtherDevice)) {
                try await fixture.context.openSession(identityToken: token, applicationID: nil, on: other)
            }
            let opened = try await fixture.context.openSession(identityToken: token, applicationID: nil, on: connection)
            #expect(opened.session.providerID == registered.provider.id && opened.session.externalID == "al ice")
            #expect(opened.session.applicationID == registered.applicationID)
            #expect(opened.address == "idp-example/al ice")
            let kept = try await fixture.context.exportPersonalData(for: opened.session)
            #expect(kept.displayName == "Alice" && kept.avatarURL == "https://img.example/a.png")
            await #expect(throws: refusal(.nonceUsed)) {
                try await fixture.context.openSession(identityToken: token, applicationID: nil, on: connection)
            }
            let secret = try #require(opened.token).text.reveal()
            #expect(try await fixture.context.checkSession(secret, on: connection).id == opened.session.id)
            // The key set was read when the issuer was registered, and is fresh.
            #expect(fixture.issuers.count(issuer.url) == 1)
        }
    }

    @Test("renew a challenged session of the same user, and of no other")
    func renews() async throws {
        try await ServiceFixture.run { fixture in
            let issuer = StandInIssuer([("k-1", try ProviderSigner(.es256))])
            _ = try await issuer.register(on: fixture)
            let connection = try await fixture.connectNewDevice()
            func token(_ user: String) throws -> String {
                try issuer.idToken(user, nonce: fixture.context.issueNonce(connection).nonce, now: fixture.clock.now)
            }
            let opened = try await fixture.context.openSession(
                identityToken: token("alice"), applicationID: nil, on: connection)
            try await fixture.admin.challengeSession(opened.session.id)
            try await fixture.watch.poll()
            let secret = try #require(opened.token).text.reveal()
            for wrong in [try token("bob"), try fixture.identityToken("alice", on: connection)] {
                await #expect(throws: Refusal(.conflict, "", state: "challenged")) {
                    try await fixture.context.renewSession(sessionToken: secret, identityToken: wrong, on: connection)
                }
            }
            let renewed = try await fixture.context.renewSession(
                sessionToken: secret, identityToken: try token("alice"), on: connection)
            #expect(renewed.session.id == opened.session.id)
        }
    }

    @Test(
        "verify by every algorithm that the provider's row allows, and by no other",
        arguments: SignatureAlgorithm.allCases)
    func algorithms(_ algorithm: SignatureAlgorithm) async throws {
        try await ServiceFixture.run { fixture in
            let signer = try ProviderSigner(algorithm)
            let issuer = StandInIssuer([("k", signer), ("other", try ProviderSigner(.es256))])
            _ = try await issuer.register(on: fixture, algorithms: [algorithm.rawValue, "ES256"])
            let connection = try await fixture.connectNewDevice()
            func token(_ issuer: StandInIssuer) throws -> String {
                try issuer.idToken(
                    "alice", nonce: fixture.context.issueNonce(connection).nonce, now: fixture.clock.now, kid: "k")
            }
            _ = try await fixture.context.openSession(
                identityToken: try token(issuer), applicationID: nil, on: connection)
            guard algorithm != .es256 else { return }
            let strict = StandInIssuer(issuer.keys.map { ($0.kid, $0.signer) }, at: "https://strict.example")
            _ = try await strict.register(on: fixture, algorithms: ["ES256"])
            await #expect(throws: refusal(.unknownKey)) {
                try await fixture.context.openSession(
                    identityToken: try token(strict), applicationID: nil, on: connection)
            }
        }
    }

    @Test("are refused and look nothing up by names that no statement takes", arguments: StoreKind.shared)
    func hiddenNames(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let issuer = StandInIssuer([("k", try ProviderSigner(.es256))])
            _ = try await issuer.register(on: fixture)
            let connection = try await fixture.connectNewDevice()
            for claim in ["iss", "aud", "azp"] {
                let token = try issuer.idToken(
                    "alice", nonce: fixture.context.issueNonce(connection).nonce, now: fixture.clock.now
                ) {
                    if claim == "azp" { $0[claim: "aud"] = .array([.string("client-1"), .string("client-2")]) }
                    $0[claim: claim] = .string("https://idp.example\u{0}")
                }
                await #expect(throws: Refusal.self, "\(claim)") {
                    try await fixture.context.openSession(identityToken: token, applicationID: nil, on: connection)
                }
            }
        }
    }

    @Test(
        "use the keys of their own provider: they are stored for each of the issuer, whatever keeps another one from them"
    )
    func otherProviders() async throws {
        try await ServiceFixture.run { fixture in
            let (old, new) = (try ProviderSigner(.es256), try ProviderSigner(.es256))
            let all = StandInIssuer([("k-1", old)], audience: "client-1")
            let strict = StandInIssuer([("k-1", old)], audience: "client-2")
            _ = try await all.register(on: fixture, slug: "all")
            _ = try await strict.register(on: fixture, algorithms: ["ES256"], slug: "strict")
            // Too many keys, of an algorithm that only the first provider takes.
            let many = try (0..<64).map { ("e-\($0)", try ProviderSigner(.edDSA)) }
            try StandInIssuer([("k-2", new)] + many, at: all.url).publish(on: fixture)
            fixture.clock.advance(601)
            try await RefreshIssuers(fixture.context)()
            let kept = try await fixture.admin.readProvider("strict").keys
            #expect(kept.filter { $0.retiredAt == nil }.map(\.issuerKeyID) == ["k-2"])
            let failure = try await fixture.admin.issuerReadings()[all.url]?.failure
            #expect(failure == "The key set has more than 64 keys.")
        }
    }

    @Test("tell the clients of one issuer apart: each audience has its own users, and azp decides among several")
    func audiences() async throws {
        try await ServiceFixture.run { fixture in
            let signer = try ProviderSigner(.es256)
            let first = StandInIssuer([("k", signer)], audience: "client-1")
            let second = StandInIssuer([("k", signer)], audience: "client-2")
            let ids = [
                try await first.register(on: fixture, slug: "one").provider.id,
                try await second.register(on: fixture, slug: "two").provider.id,
            ]
            await #expect(throws: Refusal(.conflict, "", state: "registered")) {
                try await first.register(on: fixture, slug: "three")
            }
            let connection = try await fixture.connectNewDevice()
            func open(_ edit: (inout TokenDraft) -> Void) async throws -> ProviderID {
                let token = try first.idToken(
                    "alice", nonce: fixture.context.issueNonce(connection).nonce, now: fixture.clock.now, edit: edit)
                return try await fixture.context.openSession(identityToken: token, applicationID: nil, on: connection)
                    .session
                    .providerID
            }
            let both = JSONValue.array([.string("client-1"), .string("client-2")])
            #expect(try await open { _ in } == ids[0])
            #expect(try await open { $0[claim: "aud"] = .string("client-2") } == ids[1])
            #expect(try await open { $0[claim: "aud"] = .array([.string("client-2")]) } == ids[1])
            #expect(
                try await open {
                    $0[claim: "aud"] = both
                    $0[claim: "azp"] = .string("client-2")
                } == ids[1])
            for edit: (inout TokenDraft) -> Void in [
                { $0[claim: "aud"] = both }, { $0[claim: "aud"] = .string("client-3") },
                { $0[claim: "aud"] = .string("Client-1") },
                {
                    $0[claim: "aud"] = both
                    $0[claim: "azp"] = .string("client-3")
                },
            ] {
                await #expect(throws: refusal(.wrongAudience)) { try await open(edit) }
            }
        }
    }

    @Test("never take the token of one kind for one of the other, whoever signed it")
    func mixUp() async throws {
        try await ServiceFixture.run { fixture in
            // The same key at both: only what the token says tells them apart.
            let issuer = StandInIssuer([("k", fixture.signer)])
            let registered = try await issuer.register(on: fixture)
            let connection = try await fixture.connectNewDevice()
            func nonce() -> String { fixture.context.issueNonce(connection).nonce }
            let (now, plain) = (fixture.clock.now, fixture.registration)
            let own = try await fixture.admin.addProviderKey(
                ProviderSigner(.es256).verificationKey, to: registered.provider.id)
            try await fixture.watch.poll()
            let key = try #require(
                try await fixture.admin.readProvider("idp-example").keys.first { $0.origin == .issuer })
            let hostile = try [
                // An ID token for the plain provider, and an identity token for the issuer's.
                issuer.idToken("a", nonce: nonce(), now: now) {
                    $0[claim: "iss"] = .string(plain.provider.id.description)
                    $0[claim: "nce"] = .string(nonce())
                },
                issuer.idToken("a", nonce: nonce(), now: now) {
                    $0[claim: "iss"] = .string(plain.provider.id.description)
                    $0[header: "kid"] = .string(plain.keyID.description)
                },
                fixture.signer.identityToken(
                    provider: plain.provider.id, kid: plain.keyID, externalID: "a", nonce: nonce(), now: now
                ) {
                    $0[claim: "iss"] = .string(issuer.url)
                },
                fixture.signer.identityToken(
                    provider: registered.provider.id, kid: key.id, externalID: "a", nonce: nonce(), now: now),
                fixture.signer.identityToken(
                    provider: registered.provider.id, kid: own, externalID: "a", nonce: nonce(), now: now),
                issuer.idToken("a", nonce: nonce(), now: now) { $0[header: "cty"] = .string("layer-eit;v=1") },
                issuer.idToken("a", nonce: nonce(), now: now) { $0[header: "kid"] = .string(key.id.description) },
            ]
            for (index, token) in hostile.enumerated() {
                await #expect(throws: Refusal.self, "\(index)") {
                    try await fixture.context.openSession(identityToken: token, applicationID: nil, on: connection)
                }
            }
            // As the backend of its provider an issuer's key is nobody.
            let bearer = try fixture.signer.providerToken(
                provider: registered.provider.id, kid: key.id, realm: ServiceFixture.realm, now: now)
            let request = ProvenRequest(method: "GET", path: "/provider", body: [])
            for token in [bearer, try issuer.idToken("a", nonce: nonce(), now: now)] {
                await #expect(throws: Refusal(.providerTokenInvalid, "")) {
                    try await fixture.context.authenticateProvider(token, for: nil, in: request, at: .free)
                }
            }
        }
    }

    @Test("are refused where the provider vouches by ID tokens alone, even by a key of its own")
    func ownKey() async throws {
        try await ServiceFixture.run { fixture in
            let issuer = StandInIssuer([("k", try ProviderSigner(.es256))])
            let id = try await issuer.register(on: fixture).provider.id
            let signer = try ProviderSigner(.es256)
            let key = try await fixture.admin.addProviderKey(try signer.verificationKey, to: id)
            try await fixture.watch.poll()
            let connection = try await fixture.connectNewDevice()
            let token = try signer.identityToken(
                provider: id, kid: key, externalID: "alice", nonce: fixture.context.issueNonce(connection).nonce,
                now: fixture.clock.now)
            await #expect(throws: refusal(.unknownIssuer)) {
                try await fixture.context.openSession(identityToken: token, applicationID: nil, on: connection)
            }
            // Its backend is proved by that key, and has ID tokens checked.
            let caller = try await fixture.context.authenticateProvider(
                try signer.providerToken(provider: id, kid: key, realm: ServiceFixture.realm, now: fixture.clock.now),
                for: nil, in: ProvenRequest(method: "GET", path: "/provider", body: []), at: .free)
            let good = try issuer.idToken(
                "a", nonce: fixture.context.issueNonce(connection).nonce, now: fixture.clock.now)
            #expect(try await fixture.context.checkIdentityToken(good, for: caller).defects.isEmpty)
            let bad = try issuer.idToken("a", nonce: "x", now: fixture.clock.now - 700) {
                $0[claim: "aud"] = .string("client-2")
                $0[header: "kid"] = .string("k-9")
            }
            let found = try await fixture.context.checkIdentityToken(bad, for: caller)
            #expect(found.defects.map(\.reason) == [.unknownKey, .expired, .wrongAudience, .nonceUnknown])
            #expect(found.clockSkew == -700)
        }
    }
}
