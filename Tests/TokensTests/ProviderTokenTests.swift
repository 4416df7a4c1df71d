import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Tokens

@Suite("Provider tokens")
struct ProviderTokenTests {
    private let bench: RegisteredProvider
    private let verifier = ProviderTokenVerifier(realm: RegisteredProvider.realm)
    private let now = RegisteredProvider.now
    private let request = ProvenRequest(method: "GET", path: "/provider", query: "a=b", body: [])
    private let invalid = Refusal(.providerTokenInvalid, "")
    private let gate = Refusal(.invalidCSR, "", reason: .gate)
    private let badProof = Refusal(.invalidProviderKey, "", reason: .badProof)

    init() throws {
        bench = try RegisteredProvider(.edDSA)
    }

    private func bearer(_ edit: (inout TokenDraft) -> Void = { _ in }) throws -> ProviderToken {
        let compact = try bench.signer.providerToken(
            provider: bench.provider.id, kid: bench.key.id, realm: RegisteredProvider.realm, now: now, edit: edit)
        let token = try UnverifiedToken(compact, refusing: .providerTokenInvalid)
        let (provider, key) = bench.found(for: token)
        return try verifier.verify(token, with: request, provider: provider, key: key, now: now)
    }

    private func fresh(
        body: String = "{}", shown: String = "{}", method: String = "POST", path: String = "/provider/keys",
        query: String? = nil, _ edit: (inout TokenDraft) -> Void = { _ in }
    ) throws -> (token: ProviderToken, identifier: String, rememberUntil: Date) {
        let compact = try bench.signer.freshProviderToken(
            provider: bench.provider.id, kid: bench.key.id, realm: RegisteredProvider.realm, identifier: "j-1",
            request: ProvenRequest(method: "POST", path: "/provider/keys", body: Array(body.utf8)), now: now, edit: edit
        )
        let token = try UnverifiedToken(compact, refusing: .providerTokenInvalid)
        let (provider, key) = bench.found(for: token)
        let request = ProvenRequest(method: method, path: path, query: query, body: Array(shown.utf8))
        return try verifier.verifyFresh(token, request: request, provider: provider, key: key, now: now)
    }

    private func enrolment(_ edit: (inout TokenDraft) -> Void = { _ in }) throws -> EnrolmentToken {
        let compact = try bench.signer.enrolmentToken(
            provider: bench.provider.id, kid: bench.key.id, realm: RegisteredProvider.realm, identifier: "j-2",
            now: now, edit: edit)
        let token = try UnverifiedToken(compact, refusing: .invalidCSR)
        let (provider, key) = bench.found(for: token)
        return try verifier.verifyEnrolment(token, provider: provider, key: key, now: now)
    }

    private func proof(_ edit: (inout TokenDraft) -> Void = { _ in }) throws -> KeyPossessionProof {
        let compact = try bench.signer.possessionProof(provider: bench.provider.id, now: now, edit: edit)
        return try KeyPossessionProof(
            compact, of: bench.key.verificationKey, by: bench.provider.id, realm: RegisteredProvider.realm, now: now)
    }

    @Test("Good tokens of the three kinds are trusted for what they say")
    func good() throws {
        let bearer = try bearer()
        #expect(bearer.provider == bench.provider.id)
        #expect(bearer.keyID == bench.key.id)
        #expect(bearer.expiresAt == now + 3600)
        let fresh = try fresh()
        #expect(fresh.identifier == "j-1")
        #expect(fresh.rememberUntil == now + 120)
        let enrolment = try enrolment()
        #expect(enrolment.identifier == "j-2")
        #expect(enrolment.provider == bench.provider.id)
        #expect(enrolment.rememberUntil == now + 660)
    }

    @Test("A bearer token that is bent is refused")
    func bearerRefusals() {
        let seconds = RegisteredProvider.seconds
        let edits: [(inout TokenDraft) -> Void] = [
            { $0[header: "cty"] = .string("layer-eit;v=1") }, { $0[header: "cty"] = nil },
            { $0[header: "typ"] = .string("at+jwt") }, { $0[header: "kid"] = nil },
            { $0[header: "alg"] = .string("none") },
            { $0[header: "crit"] = .array([.string("exp")]) }, { $0[claim: "iss"] = nil },
            { $0[claim: "iss"] = .string(UUID().uuidString) }, { $0[claim: "aud"] = nil },
            { $0[claim: "aud"] = .string("other.example") }, { $0[claim: "iat"] = nil }, { $0[claim: "exp"] = nil },
            { $0[claim: "exp"] = .integer(seconds + 3601) }, { $0[claim: "iat"] = .integer(seconds + 61) },
            { $0.lives(from: RegisteredProvider.now - 3660, for: 3600) },
        ]
        for edit in edits { #expect(throws: invalid) { try bearer(edit) } }
    }

    @Test("A bearer token that names a request counts with that request alone, and says so")
    func bearerOfOneRequest() throws {
        #expect(try !bearer().isForOneRequest)
        let here = ["https://service.example/provider", "https://service.example/provider?a=b"]
        for target in here { #expect(try bearer { $0[claim: "htu"] = .string(target) }.isForOneRequest) }
        #expect(try bearer { $0[claim: "htm"] = .string("GET") }.isForOneRequest)
        #expect(try bearer { $0[claim: "body_sha256"] = .string("x") }.isForOneRequest)
        let edits: [(inout TokenDraft) -> Void] = [
            { $0[claim: "htm"] = .string("PUT") }, { $0[claim: "htm"] = .string("get") },
            { $0[claim: "htm"] = .string("") }, { $0[claim: "htm"] = .integer(1) }, { $0[claim: "htm"] = .null },
            { $0[claim: "htu"] = .string("https://service.example/provider/keys") },
            { $0[claim: "htu"] = .string("https://service.example/provider?a=c") },
            { $0[claim: "htu"] = .string("/provider") }, { $0[claim: "htu"] = .array([]) },
            { $0[claim: "htu"] = .null },
        ]
        for edit in edits { #expect(throws: invalid) { try bearer(edit) } }
    }

    @Test("A fresh token is young, named and bound to method, path and body")
    func freshRefusals() {
        #expect(throws: invalid) { try fresh(shown: "{ }") }
        #expect(throws: invalid) { try fresh(method: "DELETE") }
        #expect(throws: invalid) { try fresh(method: "post") }
        for path in ["/provider/webhook", "/provider/keys/", "/provider", "/Provider/keys", "/provider/keys%2F"] {
            #expect(throws: invalid, "\(path)") { try fresh(path: path) }
        }
        #expect(throws: invalid) { try fresh(body: "") }
        let edits: [(inout TokenDraft) -> Void] = [
            { $0[claim: "jti"] = nil }, { $0[claim: "jti"] = .string("") },
            { $0[claim: "jti"] = .string(String(repeating: "j", count: 129)) }, { $0[claim: "jti"] = .integer(1) },
            { $0[claim: "htm"] = nil }, { $0[claim: "htm"] = .string("PUT") }, { $0[claim: "htu"] = nil },
            { $0[claim: "htu"] = .string("/provider/keys") }, { $0[claim: "htu"] = .string("https:///provider/keys") },
            { $0[claim: "htu"] = .string("http://service.example/provider/keys") },
            { $0[claim: "htu"] = .string("https://service.example/provider/keys#x") },
            { $0[claim: "htu"] = .string("https://service.example/provider/keys?sessions=end") },
            { $0[claim: "body_sha256"] = nil }, { $0[claim: "body_sha256"] = .string("AA") },
            { $0.lives(from: RegisteredProvider.now, for: 61) },
        ]
        for edit in edits { #expect(throws: invalid) { try fresh(edit) } }
    }

    @Test("An ordinary token in place of a fresh one is refused with every claim that it lacks")
    func ordinaryForFresh() throws {
        let claims = ["jti", "htm", "htu", "body_sha256"]
        let refusal = #expect(throws: Refusal.self) {
            try fresh { draft in for claim in claims { draft[claim: claim] = nil } }
        }
        #expect(refusal?.detail.contains("jti, htm, htu, body_sha256") == true)
        #expect(refusal?.detail.contains("fresh token") == true)
    }

    @Test("A fresh token's target has no query, or the one of the request")
    func freshQuery() throws {
        _ = try fresh(query: "sessions=end")
        let whole = "https://service.example/provider/keys?sessions=end"
        _ = try fresh(query: "sessions=end") { $0[claim: "htu"] = .string(whole) }
        #expect(throws: invalid) { try fresh(query: "sessions=keep") { $0[claim: "htu"] = .string(whole) } }
    }

    @Test("An enrolment token is refused as the gate's, and no other kind passes for it")
    func enrolmentRefusals() {
        let edits: [(inout TokenDraft) -> Void] = [
            { $0[header: "cty"] = .string("layer-provider;v=1") }, { $0[header: "cty"] = .string("layer-eit;v=1") },
            { $0[claim: "jti"] = nil }, { $0[claim: "aud"] = nil },
            { $0.lives(from: RegisteredProvider.now, for: 601) },
        ]
        for edit in edits { #expect(throws: gate) { try enrolment(edit) } }
    }

    @Test("A retired key and a disabled provider read nothing")
    func ended() throws {
        let compact = try bench.signer.providerToken(
            provider: bench.provider.id, kid: bench.key.id, realm: RegisteredProvider.realm, now: now)
        let token = try UnverifiedToken(compact)
        let retired = try bench.signer.registered(as: bench.key.id, for: bench.provider.id, retired: true)
        #expect(throws: invalid) {
            try verifier.verify(token, with: request, provider: bench.provider, key: retired, now: now)
        }
        var disabled = bench.provider
        disabled.disabledAt = now
        #expect(throws: invalid) {
            try verifier.verify(token, with: request, provider: disabled, key: bench.key, now: now)
        }
        #expect(throws: invalid) { try verifier.verify(token, with: request, provider: nil, key: nil, now: now) }
    }

    @Test("A new key's proof names the provider, in iss or sub")
    func proofs() throws {
        #expect(try proof().provider == bench.provider.id)
        let id = bench.provider.id.description
        _ = try proof {
            $0[claim: "iss"] = nil
            $0[claim: "sub"] = .string(id)
        }
        _ = try proof { $0[claim: "aud"] = .string(RegisteredProvider.realm) }
    }

    @Test("A proof by another key, for another provider or of another time is a bad proof")
    func proofRefusals() throws {
        let edits: [(inout TokenDraft) -> Void] = [
            { $0[claim: "iss"] = nil }, { $0[claim: "iss"] = .string(UUID().uuidString) },
            { $0[claim: "sub"] = .string(UUID().uuidString) }, { $0[claim: "iat"] = nil }, { $0[claim: "exp"] = nil },
            { $0.lives(from: RegisteredProvider.now, for: 601) }, { $0[claim: "aud"] = .string("other.example") },
            { $0[header: "alg"] = .string("none") }, { $0[header: "typ"] = .string("JWE") },
            { $0[header: "jwk"] = .object([]) }, { $0.lives(from: RegisteredProvider.now - 600, for: 300) },
        ]
        for edit in edits { #expect(throws: badProof) { try proof(edit) } }
        let stranger = try ProviderSigner(.edDSA).possessionProof(provider: bench.provider.id, now: now)
        #expect(throws: badProof) {
            try KeyPossessionProof(
                stranger, of: bench.key.verificationKey, by: bench.provider.id, realm: RegisteredProvider.realm,
                now: now)
        }
        #expect(throws: badProof) {
            try KeyPossessionProof(
                "a.b", of: bench.key.verificationKey, by: bench.provider.id, realm: RegisteredProvider.realm, now: now)
        }
    }
}
