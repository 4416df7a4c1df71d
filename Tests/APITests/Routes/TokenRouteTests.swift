import Database
import Domain
import Encoding
import Fixtures
import Foundation
import HTTPTypes
import Operations
import Repositories
import Testing

@testable import API
@testable import Tokens

@Suite("The endpoints of OAuth")
struct TokenRouteTests {
    @Test("answer, and refuse by each code of theirs", arguments: cases)
    func answers(_ one: RouteCase) async throws { try await one.run() }

    /// The claims of a token, unverified.
    private static func claims(_ reply: Reply) throws -> JSONOutline {
        try UnverifiedToken(try #require(reply.text("access_token")), refusing: .malformedRequest).payload
    }

    @Test("give a session's provider a token of the session, bound to the device's certificate, for two minutes")
    func session() async throws {
        try await RouterBench.run { bench in
            let person = try await bench.signIn()
            let reply = try await bench.exchanged(person.token, on: person.connection)
            #expect(reply.status == 200 && reply.text("token_type") == "Bearer" && reply["expires_in"] == .integer(120))
            #expect(reply.text("issued_token_type") == "urn:ietf:params:oauth:token-type:jwt")
            let claims = try Self.claims(reply)
            let (session, now) = (person.session, Int64(bench.fixture.clock.now.timeIntervalSince1970))
            let expected: [String: JSONValue] = [
                "iss": .string("https://public.example"), "external_id": .string("alice"), "exp": .integer(now + 120),
                "aud": .string(session.providerID.description), "sub": .string(session.userID.description),
                "client_id": .string(session.applicationID.description), "sid": .string(session.id.description),
                "acr": .string("none"), "device_attestation": .string("none"), "auth_time": .integer(now),
                "iat": .integer(now), "cnf": .object(["x5t#S256": .string(session.thumbprint.base64URL)]),
            ]
            for (name, value) in expected { #expect(claims[name] == value, "\(name)") }
            #expect(Set(claims.names) == Set(expected.keys).union(["jti"]))
            // A second one is another token, and none outlives the session.
            bench.fixture.clock.advance(3500)
            _ = try await person.send("GET /sessions/current")
            let again = try await bench.exchanged(person.token, on: person.connection)
            #expect(try Self.claims(again)["jti"] != claims["jti"])
        }
    }

    @Test("sign by the algorithm that the provider's backend verifies, with the key that has its id")
    func algorithms() async throws {
        try await RouterBench.run { bench in
            let person = try await bench.signIn()
            let keys = try #require(ServiceFixture.accessTokens)
            for (algorithm, key) in [
                (AccessTokenAlgorithm.es256, keys.publishedCurve), (.rs256, try #require(keys.published.first)),
            ] {
                try await bench.fixture.admin.setTokenAlgorithm(algorithm, of: "test")
                try await bench.fixture.watch.poll()
                let reply = try await bench.exchanged(person.token, on: person.connection)
                let token = try UnverifiedToken(
                    try #require(reply.text("access_token")), refusing: .malformedRequest)
                #expect(token.header.algorithm == algorithm.rawValue && token.header.keyID == key.id)
                #expect(key.key.isValid(signature: token.signature, over: token.signingInput))
            }
        }
    }

    @Test("give no token of a session that ends: its last one ends with it")
    func lastToken() async throws {
        try await RouterBench.run(RouterBench.policy { $0.sessions.absoluteLifetime = 60 }) { bench in
            let person = try await bench.signIn()
            bench.fixture.clock.advance(40)
            let reply = try await bench.exchanged(person.token, on: person.connection)
            #expect(reply["expires_in"] == .integer(20))
        }
    }

    @Test("let a session's token be shown as a bearer token, also where the session is ended or listed")
    func bearer() async throws {
        try await RouterBench.run { bench in
            let reply = try await bench.granted(on: try await bench.fixture.connectNewDevice())
            #expect(reply.status == 200)
            let person = try await bench.signIn()
            let shown = "Bearer \(person.token)"
            let current = try await bench.client("GET /sessions/current", authorization: shown, on: person.connection)
            #expect(current.text("session_id") == person.session.id.description)
            let ended = try await bench.client("DELETE /sessions/current", authorization: shown, on: person.connection)
            #expect(ended.status == 204)
            let gone = try await bench.client("GET /sessions/current", authorization: shown, on: person.connection)
            #expect(gone.status == 401 && gone.code == "session_destroyed")
            gone.judge()
        }
    }

    /// Each defect of an assertion that opens a session, and its reason.
    static let grants: [(String, @Sendable (inout TokenDraft) -> Void)] = [
        ("wrong_audience", { $0[claim: "aud"] = .string("https://other.example/token") }),
        ("missing_claim", { $0[claim: "aud"] = nil }),
        (
            "missing_claim",
            {
                $0[claim: "sub"] = nil
                $0[claim: "prn"] = .string("alice")
            }
        ),
        (
            "expired",
            {
                $0[claim: "iat"] = .integer(1)
                $0[claim: "exp"] = .integer(2)
            }
        ),
        ("wrong_type", { $0[header: "cty"] = .string("layer-provider;v=1") }),
        ("nonce_unknown", { $0[claim: "nce"] = .string("AAAA") }),
    ]

    @Test("open no session for another audience, without subject or audience, or by another kind of token")
    func refusedGrants() async throws {
        try await RouterBench.run { bench in
            let connection = try await bench.fixture.connectNewDevice()
            for (reason, edit) in Self.grants {
                let reply = try await bench.granted(on: connection, edit: edit)
                #expect(reply.status == 400 && reply.text("error") == "invalid_grant", "\(reason)")
                #expect(reply.text("reason") == reason && reply.text("nonce") != nil, "\(reply.text("reason") ?? "")")
                reply.judge()
            }
            let stranger = try await bench.fixture.connectNewDevice()
            let foreign = try await bench.granted(
                on: connection, nonce: bench.fixture.context.issueNonce(stranger).nonce)
            #expect(foreign.text("error") == "invalid_grant" && foreign.text("reason") == "nonce_other_device")
            let nonce = bench.fixture.context.issueNonce(connection).nonce
            #expect(try await bench.granted(on: connection, nonce: nonce).status == 200)
            let replayed = try await bench.granted(on: connection, nonce: nonce)
            #expect(replayed.text("error") == "invalid_grant" && replayed.text("reason") == "nonce_used")
        }
    }

    /// Each defect of a client assertion.
    static let assertions: [@Sendable (inout TokenDraft) -> Void] = [
        { $0[claim: "aud"] = .string("https://other.example/token") }, { $0[claim: "aud"] = .string("test") },
        { $0[claim: "aud"] = .array([.string("https://public.example"), .string("https://other.example")]) },
        { $0[claim: "aud"] = nil }, { $0[claim: "sub"] = nil }, { $0[claim: "jti"] = nil },
        { $0[claim: "sub"] = .string(UUID().uuidString.lowercased()) },
        {
            $0[claim: "iat"] = .integer(1)
            $0[claim: "exp"] = .integer(2)
        },
        { $0[header: "cty"] = .string("layer-provider;v=1") }, { $0[header: "typ"] = .string("at+jwt") },
        { $0[header: "kid"] = nil }, { $0[header: "alg"] = .string("none") },
    ]

    @Test("take no client assertion for another audience, of another subject, that is old or of another kind, or twice")
    func refusedAssertions() async throws {
        try await RouterBench.run { bench in
            for (index, edit) in Self.assertions.enumerated() {
                let reply = try await bench.taken(try bench.assertion(edit: edit))
                #expect(reply.status == 401 && reply.text("error") == "invalid_client", "\(index): \(reply.status)")
                reply.judge()
            }
            // A library's default of an hour is taken, for the first five minutes.
            let long = try bench.assertion(lifetime: 3600)
            bench.fixture.clock.advance(300)
            #expect(try await bench.taken(long).status == 200)
            let again = try await bench.taken(long)
            #expect(again.status == 401 && again.text("error_description")?.contains("jti") == true)
            let old = try bench.assertion(lifetime: 3600)
            bench.fixture.clock.advance(361)
            #expect(try await bench.taken(old).text("error") == "invalid_client")
            // An assertion is no bearer token, and no access token an assertion.
            let bearer = try await bench.post("/introspect", ["token": "x"], bearer: try bench.assertion())
            #expect(bearer.status == 401 && bearer.text("error") == "invalid_token")
            #expect(bearer.headers[.wwwAuthenticate]?.hasSuffix("error=\"invalid_token\"") == true)
            #expect(try await bench.taken(try await bench.access()).text("error") == "invalid_client")
        }
    }

    @Test("open reads and ends to an access token, by its scopes, and nothing that changes keys or the webhook")
    func scopes() async throws {
        try await RouterBench.run { bench in
            let person = try await bench.verified("ann", 1)
            for (call, scope) in [
                ("GET /provider/users/ann", "users.read"), ("DELETE /provider/users/nobody/sessions", "sessions.end"),
                ("POST /provider/token-check", "sessions.read"), ("GET /provider/webhook", "ssf.read"),
            ] {
                let body = call.hasPrefix("POST") ? #"{"identity_token":"x"}"# : nil
                let allowed = try await bench.open(call, body: body, bearer: try await bench.access(scope))
                #expect(![401, 403].contains(allowed.status), "\(call): \(allowed.status)")
                // Whoever manages streams may read them.
                let granting = [scope] + (scope == "ssf.read" ? ["ssf.manage"] : [])
                let others = ProviderScope.allCases.map(\.rawValue).filter { !granting.contains($0) }
                    .joined(separator: " ")
                let refused = try await bench.open(call, body: body, bearer: try await bench.access(others))
                #expect(refused.status == 403 && refused.code == "insufficient_scope", "\(call): \(refused.status)")
                #expect(refused.headers[.wwwAuthenticate]?.hasSuffix("error=\"insufficient_scope\"") == true)
                refused.judge()
            }
            let token = try await bench.access()
            #expect(try await bench.open("GET /provider", bearer: token).status == 200)
            let found = try await bench.post("/introspect", ["token": person.token], bearer: token)
            #expect(found["active"] == .bool(true))
            for (call, body) in [
                ("POST /provider/keys", "{}"), ("PUT /provider/webhook", "{}"), ("DELETE /provider/webhook", nil),
                ("DELETE /provider/keys/x", nil),
            ] {
                let reply = try await bench.open(call, body: body, bearer: token)
                #expect(reply.status == 401 && reply.code == "provider_token_invalid", "\(call): \(reply.status)")
            }
        }
    }

    /// What ends an access token before its time.
    enum End: CaseIterable { case time, key, provider }

    @Test(
        "take no access token after its hour, nor when its provider is disabled or its key revoked",
        arguments: End.allCases)
    func ends(_ end: End) async throws {
        try await RouterBench.run { bench in
            let token = try await bench.access()
            switch end {
            case .time: bench.fixture.clock.advance(3600)
            case .key:
                _ = try await bench.fixture.revokeKeyByAdmin(
                    bench.fixture.registration.keyID, endingSessions: false)
            case .provider:
                _ = try await bench.fixture.admin.disableProvider(bench.fixture.registration.provider.slug.text)
                try await bench.fixture.watch.poll()
            }
            let reply = try await bench.open("GET /provider", bearer: token)
            #expect(reply.status == 401 && reply.code == "provider_token_invalid")
            let form = try await bench.post("/introspect", ["token": "x"], bearer: token)
            #expect(form.status == 401 && form.text("error") == "invalid_token")
        }
    }

    @Test("take no token of a session for a call of its provider, and no provider's token for a session's")
    func confusion() async throws {
        try await RouterBench.run { bench in
            let person = try await bench.signIn()
            let session = try #require(
                try await bench.exchanged(person.token, on: person.connection).text("access_token"))
            let call = try await bench.open("GET /provider", bearer: session)
            #expect(call.status == 401 && call.code == "provider_token_invalid")
            let client = try await bench.client(
                "GET /sessions/current", authorization: "Bearer \(session)", on: person.connection)
            #expect(client.status == 401 && client.code == "session_destroyed")
            let own = try await bench.exchanged(session, on: person.connection)
            #expect(own.status == 400 && own.text("error") == "invalid_request")
        }
    }

    @Test("give no token of a session that ended, though the node that is asked has not heard of it yet")
    func unheard() async throws {
        try await RouterBench.run { bench in
            let person = try await bench.signIn()
            let user = person.session.userID
            #expect(try await bench.exchanged(person.token, on: person.connection).status == 200)
            try await bench.fixture.watch.poll()
            // From here on memory would do, if nothing were written.
            #expect(try await bench.exchanged(person.token, on: person.connection).status == 200)
            try await bench.fixture.store.write { try GenerationRepository($0).raise(.user(user)) }
            #expect(try await person.send("GET /sessions/current").status == 200)
            let reply = try await bench.exchanged(person.token, on: person.connection)
            #expect(reply.status == 400 && reply.code == "session_destroyed")
        }
    }

    @Test("count what costs: exchanges by the certificate, assertions by the provider")
    func limits() async throws {
        let policy = RouterBench.policy {
            $0.accessTokens.exchangedPerMinute = 2
            $0.accessTokens.provenPerMinute = 2
        }
        try await RouterBench.run(policy) { bench in
            let person = try await bench.signIn()
            for status in [200, 200, 429] {
                let reply = try await bench.exchanged(person.token, on: person.connection)
                #expect(reply.status == status)
                #expect(try await bench.taken(try bench.assertion()).status == status)
            }
            bench.fixture.clock.advance(31)
            #expect(try await bench.exchanged(person.token, on: person.connection).status == 200)
            #expect(try await bench.taken(try bench.assertion()).status == 200)
        }
    }

    @Test("read a form of ASCII and UTF-8 by its bytes, and no long run of combining marks")
    func forms() throws {
        func form(_ text: String) throws -> FormBody { try FormBody(Array(text.utf8)) }
        let read = try form("grant_type=a+b%2B%C3%A9&empty=&&other")
        #expect(read["grant_type"] == "a b+\u{e9}" && read["empty"] == nil && read["other"] == nil)
        let marks = String(repeating: "\u{302}\u{316}", count: 16_000)
        let many = (0..<65).map { "p\($0)=1" }.joined(separator: "&")
        for wrong in ["grant_type=a\(marks)", "a\(marks)=1", "a=1&a=2", "a=%zz", "a=%ff", "\u{e9}=1&%C3%A9=2", many] {
            #expect(throws: Refusal.self) { _ = try form(wrong) }
        }
        #expect(throws: Refusal.self) { _ = try FormBody([0x61, 0x3D, 0xFF]) }
    }
}
