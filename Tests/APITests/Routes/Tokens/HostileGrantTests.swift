import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Testing
import Tokens

@testable import API

@Suite("Three hundred hostile grants at the token endpoints")
struct HostileGrantTests {
    private typealias Edit = (inout TokenDraft) -> Void

    private static func header(_ name: String, _ values: [JSONValue?]) -> [Edit] {
        values.map { value in { $0[header: name] = value } }
    }

    private static func claim(_ name: String, _ values: [JSONValue?]) -> [Edit] {
        values.map { value in { $0[claim: name] = value } }
    }

    private static func texts(_ texts: [String]) -> [JSONValue?] { texts.map { .string($0) } }

    /// Defects of either kind of token. None mends another.
    private static func common(_ now: Int64, _ other: Administration.ProviderRegistration) -> [Edit] {
        let unknown = UUID().uuidString.lowercased()
        let algorithms = ["none", "None", "", "HS256", "HS512", "RS256", "PS256", "ES384", "ES512", "EdDSA", "es256"]
        var edits = header("alg", texts(algorithms) + [.integer(1), nil])
        edits += header(
            "kid", texts(["", unknown, "../service.key", "' OR 1=1 --", other.keyID.description]) + [nil, .integer(1)])
        for name in ["jwk", "b64", "zip"] { edits += header(name, [.string("x")]) }
        edits += header("crit", [.array([.string("exp")]), .array([])])
        edits += header("typ", texts(["at+jwt", "secevent+jwt", "dpop+jwt", "token-introspection+jwt", "JWE"]))
        edits += claim(
            "iss", texts(["", unknown, "https://public.example", other.provider.id.description]) + [nil, .integer(1)])
        edits += claim("sub", [nil, .string(""), .integer(1), .array([]), .string("a\u{0}")])
        edits += claim(
            "aud",
            texts(["", "https://other.example", "https://public.example/", "HTTPS://PUBLIC.EXAMPLE/token"])
                + [nil, .array([]), .array([.integer(1)]), .object([]), .integer(1)])
        edits += claim(
            "iat", [nil, .string("\(now)"), .integer(now * 1000), .integer(now + 3600), .integer(-1), .null])
        edits += claim("exp", [nil, .string("x"), .integer(now - 3600), .integer(now + 90_000), .integer(0)])
        edits += claim("nbf", [.integer(now + 3600), .string("x")])
        return edits
    }

    /// Each defect, then two at a time, up to a number.
    private static func drafts(_ good: TokenDraft, _ edits: [Edit], count: Int) -> [TokenDraft] {
        let pairs = edits.indices.lazy.flatMap { first in edits.indices.dropFirst(first + 1).map { (first, $0) } }
        let chosen =
            edits.indices.map { [$0] } + pairs.enumerated().filter { $0.offset % 17 == 0 }.map { [$0.1.0, $0.1.1] }
        return chosen.prefix(count).map { indices in
            var draft = good
            for index in indices { edits[index](&draft) }
            return draft
        }
    }

    private static func judge(_ reply: Reply, _ errors: Set<String>, _ what: String) {
        #expect((400..<500).contains(reply.status) && reply.text("access_token") == nil, "\(what): \(reply.status)")
        #expect(reply.text("error").map(errors.contains) ?? false, "\(what): \(reply.text("error") ?? "")")
        reply.judge()
    }

    private static func run(_ body: (RouterBench, Administration.ProviderRegistration) async throws -> Void)
        async throws
    {
        let policy = RouterBench.policy {
            $0.sessions.createdPerMinute = 10_000
            $0.accessTokens.provenPerMinute = 10_000
        }
        try await RouterBench.run(policy) { bench in
            let other = try await bench.fixture.admin.addProvider(
                name: "Other", slug: nil, account: nil, avatarHosts: [], key: try ProviderSigner(.es256).verificationKey
            )
            try await body(bench, other)
        }
    }

    @Test("take no client assertion with a defect, and spend no id")
    func assertions() async throws {
        try await Self.run { bench, other in
            var good = TokenDraft(header: [])
            _ = try bench.assertion {
                $0[claim: "jti"] = .string("the one id")
                good = $0
            }
            let now = Int64(bench.fixture.clock.now.timeIntervalSince1970)
            var edits = Self.common(now, other)
            edits += Self.claim("sub", Self.texts([other.provider.id.description, "alice"]))
            edits += Self.claim("jti", [nil, .string(""), .string(String(repeating: "a", count: 129)), .integer(1)])
            edits += Self.claim("iat", [.integer(now - 600)])
            edits += Self.header("cty", Self.texts(["layer-provider;v=1", "layer-eit;v=1", "JWT"]))
            let texts =
                try Self.drafts(good, edits, count: 130).map { try bench.fixture.signer.sign($0) }
                + HostileTexts.around(good, bench.fixture.signer)
            #expect(Set(texts).count >= 150)
            for (index, text) in texts.enumerated() {
                Self.judge(try await bench.taken(text), ["invalid_client", "invalid_request"], "\(index)")
            }
            #expect(try await bench.taken(try bench.fixture.signer.sign(good)).status == 200)
        }
    }

    @Test("open no session by an identity token with a defect, and spend no nonce")
    func identityTokens() async throws {
        try await Self.run { bench, other in
            let connection = try await bench.fixture.connectNewDevice()
            let stranger = try await bench.fixture.connectNewDevice()
            let nonce = bench.fixture.context.issueNonce(connection).nonce
            var good = TokenDraft(header: [])
            _ = try bench.fixture.signer.identityToken(
                provider: bench.fixture.registration.provider.id, kid: bench.fixture.registration.keyID,
                externalID: "alice", nonce: nonce, now: bench.fixture.clock.now
            ) {
                $0[claim: "prn"] = nil
                $0[claim: "sub"] = .string("alice")
                $0[claim: "aud"] = .string("https://public.example")
                good = $0
            }
            let now = Int64(bench.fixture.clock.now.timeIntervalSince1970)
            var edits = Self.common(now, other)
            edits += Self.claim(
                "nce",
                Self.texts(["", "AAAA", nonce + "A", bench.fixture.context.issueNonce(stranger).nonce]) + [
                    nil, .integer(1),
                ])
            edits += Self.claim("prn", Self.texts(["bob", ""]))
            edits += Self.claim("app_id", Self.texts([UUID().uuidString.lowercased()]))
            edits += Self.header("cty", Self.texts(["layer-provider;v=1", "JWT", ""]) + [nil])
            let texts =
                try Self.drafts(good, edits, count: 130).map { try bench.fixture.signer.sign($0) }
                + HostileTexts.around(good, bench.fixture.signer)
            #expect(Set(texts).count >= 150)
            for (index, text) in texts.enumerated() {
                let reply = try await bench.askToken(
                    ["grant_type": RouterBench.bearerGrant, "assertion": text], on: connection)
                Self.judge(reply, ["invalid_grant", "invalid_request"], "\(index)")
            }
            let opened = try await bench.askToken(
                ["grant_type": RouterBench.bearerGrant, "assertion": try bench.fixture.signer.sign(good)],
                on: connection)
            #expect(opened.status == 200)
        }
    }
}
