import Domain
import Encoding
import Fixtures
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Operations
import Testing
import Tokens

@testable import API

@Suite("Two hundred hostile ID tokens")
struct HostileIDTokenTests {
    private typealias Edit = (inout TokenDraft) -> Void

    private static let idToken = "urn:ietf:params:oauth:token-type:id_token"

    private static func header(_ name: String, _ values: [JSONValue?]) -> [Edit] {
        values.map { value in { $0[header: name] = value } }
    }

    private static func claim(_ name: String, _ values: [JSONValue?]) -> [Edit] {
        values.map { value in { $0[claim: name] = value } }
    }

    private static func texts(_ texts: [String]) -> [JSONValue?] { texts.map { .string($0) } }

    private static func list(_ texts: String...) -> JSONValue { .array(texts.map { .string($0) }) }

    /// Defects of an ID token. None mends another.
    private static func edits(_ now: Int64, nonce: String, strangers: String, plain: Provider) -> [Edit] {
        var edits = header(
            "alg",
            texts([
                "none", "None", "", "HS256", "HS512", "RS256", "PS256", "ES384", "ES512", "ES256K", "EdDSA", "es256",
            ])
                + [.integer(1), nil])
        edits += header("kid", texts(["", "K-1", "k-9", "../k-1", "k-1 ", "other"]) + [.integer(1)])
        for name in ["jwk", "b64", "zip"] { edits += header(name, [.string("x")]) }
        edits += header("crit", [.array([.string("exp")]), .array([])])
        edits += header("typ", texts(["at+jwt", "secevent+jwt", "dpop+jwt", "logout+jwt", "JWE", "JWS", "jwt+x", ""]))
        edits += header("cty", texts(["JWT", "layer-eit;v=1", "layer-provider;v=1", ""]))
        edits += claim(
            "iss",
            texts([
                "", "https://idp.example/", "HTTPS://idp.example", "https://idp.example:443", "http://idp.example",
                "https://other.example", "https://public.example", plain.id.description, "://", "idp.example",
            ]) + [nil, .integer(1), .array([.string("https://idp.example")])])
        edits += claim("sub", [nil, .string(""), .integer(1), .array([]), .string("a\u{0}"), .string("a\u{202E}b")])
        edits += claim("sub", [.string(String(repeating: "a", count: 257))])
        edits += claim(
            "aud",
            texts(["", "client-2", "Client-1", "client-1 ", plain.id.description])
                + [nil, .array([]), .array([.integer(1)]), .object([]), .integer(1), list("client-2")]
                + [list("client-1", "client-2"), list("client-1", "client-1"), .array([.string("client-1"), .null])])
        edits += claim("azp", [.string(""), .integer(1), .array([]), .string("a\u{202E}b")])
        edits += claim("nonce", texts(["", "AAAA", nonce + "A", strangers]) + [nil, .integer(1), list(nonce)])
        edits += claim(
            "iat",
            [
                nil, .string("\(now)"), .integer(now * 1000), .integer(now + 3600), .integer(now - 700), .integer(-1),
                .null,
            ])
        edits += claim(
            "exp", [nil, .string("x"), .integer(now - 3600), .integer(now + 90_000), .integer(0), .integer(now)])
        edits += claim("nbf", [.integer(now + 3600), .string("x")])
        edits += claim(
            "events", [.object([]), .object(["http://schemas.openid.net/event/backchannel-logout": .object([])])])
        return edits
    }

    /// The good ones, changed by each defect, then by two at a time.
    private static func hostile(_ good: TokenDraft, _ signer: ProviderSigner, _ edits: [Edit]) throws -> [String] {
        let pairs = edits.indices.flatMap { first in edits.indices.dropFirst(first + 1).map { (first, $0) } }
        let chosen =
            edits.indices.map { [$0] } + stride(from: 0, to: pairs.count, by: 43).map { [pairs[$0].0, pairs[$0].1] }
        return try chosen.prefix(240).map { indices in
            var draft = good
            for index in indices { edits[index](&draft) }
            return try signer.sign(draft)
        } + HostileTexts.around(good, signer)
    }

    private static func run(
        _ body: (RouterBench, StandInIssuer, ClientConnection) async throws -> Void
    ) async throws {
        let policy = RouterBench.policy { $0.sessions.createdPerMinute = 10_000 }
        try await RouterBench.run(policy) { bench in
            let issuer = StandInIssuer([("k-1", try ProviderSigner(.es256))])
            _ = try await issuer.register(on: bench.fixture, avatarHosts: ["img.example"])
            // Another issuer's key has a name that this one's tokens may try.
            let other = StandInIssuer(
                [("other", issuer.keys[0].signer)], at: "https://other.example", audience: "client-9")
            _ = try await other.register(on: bench.fixture)
            try await body(bench, issuer, try await bench.fixture.connectNewDevice())
        }
    }

    private static func json(_ token: String) -> String {
        JSONValue.object(["identity_token": .string(token)]).jsonText
    }

    @Test("open no session by either way, spend no nonce, and are no bearer anywhere")
    func hostile() async throws {
        try await Self.run { bench, issuer, connection in
            let stranger = try await bench.fixture.connectNewDevice()
            let nonce = bench.fixture.context.issueNonce(connection).nonce
            let now = bench.fixture.clock.now
            let good = issuer.draft("alice", nonce: nonce, now: now)
            let edits = Self.edits(
                Int64(now.timeIntervalSince1970), nonce: nonce,
                strangers: bench.fixture.context.issueNonce(stranger).nonce,
                plain: bench.fixture.registration.provider)
            let texts = try Self.hostile(good, issuer.keys[0].signer, edits)
            #expect(Set(texts).count >= 200, "\(Set(texts).count)")
            for (index, text) in texts.enumerated() {
                let exchanged = try await bench.askToken(
                    ["grant_type": RouterBench.exchange, "subject_token": text, "subject_token_type": Self.idToken],
                    on: connection)
                #expect(
                    exchanged.status == 400 && exchanged.text("access_token") == nil, "\(index): \(exchanged.status)")
                exchanged.judge()
                let posted = try await bench.client("POST /sessions", json: Self.json(text), on: connection)
                #expect((400..<500).contains(posted.status), "\(index): \(posted.status)")
                posted.judge()
            }
            let token = try issuer.keys[0].signer.sign(good)
            for (call, body) in [("GET /provider", nil), ("POST /introspect", "token=x"), ("POST /revoke", "token=x")] {
                let reply = try await bench.open(call, body: body, type: RouterBench.form, bearer: token)
                #expect(reply.status == 401, "\(call): \(reply.status)")
            }
            let assertion = try await bench.askToken(
                ["grant_type": RouterBench.bearerGrant, "assertion": token], on: connection)
            #expect(assertion.status == 400 && assertion.text("error") == "invalid_grant")
            let session = try await bench.askToken(
                [
                    "grant_type": RouterBench.exchange, "subject_token": token, "audience": "x",
                    "subject_token_type": RouterBench.accessToken,
                ], on: connection)
            #expect((400..<500).contains(session.status))
            let opened = try await bench.askToken(
                ["grant_type": RouterBench.exchange, "subject_token": token, "subject_token_type": Self.idToken],
                on: connection)
            #expect(opened.status == 200 && opened.text("issued_token_type") == RouterBench.accessToken)
            #expect(opened.text("token_type") == "Bearer" && opened.text("address") == "idp-example/alice")
        }
    }

    @Test("are not alone: what an exchange of a good one may ask besides is this service, for nobody else")
    func parameters() async throws {
        try await Self.run { bench, issuer, connection in
            func exchange(_ more: (String, String)...) async throws -> Reply {
                let token = try issuer.idToken(
                    "alice", nonce: bench.fixture.context.issueNonce(connection).nonce, now: bench.fixture.clock.now)
                var form =
                    "grant_type=\(RouterBench.exchange)&subject_token=\(token)&subject_token_type=\(Self.idToken)"
                for (name, value) in more { form += "&\(name)=\(value)" }
                return try await bench.send(
                    .client, "POST /token", headers: [.contentType: RouterBench.form],
                    body: RequestBody(buffer: ByteBuffer(string: form)), on: connection)
            }
            #expect(try await exchange(("audience", "https://public.example")).status == 200)
            #expect(try await exchange(("requested_token_type", RouterBench.accessToken)).status == 200)
            #expect(try await exchange(("audience", "https://other.example")).text("error") == "invalid_target")
            for (name, value) in [
                ("actor_token", "x"), ("requested_token_type", Self.idToken), ("client_id", UUID().uuidString),
            ] {
                #expect(try await exchange((name, value)).text("error") == "invalid_request", "\(name)")
            }
            let plain = try bench.fixture.identityToken("alice", on: connection)
            let mixed = try await bench.askToken(
                ["grant_type": RouterBench.exchange, "subject_token": plain, "subject_token_type": Self.idToken],
                on: connection)
            #expect(mixed.status == 400 && mixed.text("error") == "invalid_grant")
        }
    }
}
