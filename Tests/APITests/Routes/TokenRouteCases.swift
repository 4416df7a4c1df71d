import Domain
import Encoding
import Fixtures
import Foundation
import HTTPTypes
import Operations
import Testing
import Tokens

@testable import API

extension TokenRouteTests {
    private static let token = "POST /token"

    /// A refusal of the endpoint of devices for a session that alice has.
    private static func refused(
        _ change: @escaping @Sendable (RouterBench, SignedIn) async throws -> Reply
    ) -> @Sendable (RouterBench) async throws -> Reply {
        { bench in
            let reply = try await change(bench, try await bench.signIn())
            #expect(reply.text("nonce") != nil)
            return reply
        }
    }

    static let cases: [RouteCase] = [
        RouteCase(token, 200) { bench in
            let reply = try await bench.granted(on: try await bench.fixture.connectNewDevice())
            #expect(reply.text("token_type") == "Bearer" && reply["expires_in"] == .integer(86_400))
            #expect(reply.text("access_token")?.utf8.count == 64 && reply.headers[.cacheControl] == "no-store")
            return reply
        },
        RouteCase(token, 200) { bench in
            let reply = try await bench.taken(try bench.assertion(), scope: "users.read sessions.read")
            #expect(reply.text("token_type") == "Bearer" && reply["expires_in"] == .integer(3600))
            #expect(reply.text("scope") == "sessions.read users.read" && reply.headers[.cacheControl] == "no-store")
            return reply
        },
        RouteCase(token, 200) { bench in
            // What this service does not know is ignored (RFC 6749 §3.2).
            let assertion = try bench.assertion(audience: "https://public.example")
            return try await bench.post(
                "/token",
                [
                    "grant_type": "client_credentials", "client_assertion": assertion, "surplus": "1",
                    "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                    "client_id": bench.fixture.registration.provider.id.description,
                ])
        },
        RouteCase(token, 400, .malformedRequest) { bench in
            let reply = try await bench.post(
                "/token", ["grant_type": "client_credentials", "scope": "a", "scope": "b"])
            #expect(reply.text("error") == "invalid_request")
            return reply
        },
        RouteCase(token, 400, .malformedRequest) { bench in
            let reply = try await bench.post("/token", ["grant_type": ""])
            #expect(reply.text("error") == "invalid_request")
            return reply
        },
        RouteCase(token, 400, .malformedRequest, reason: "unsupported_grant_type") { bench in
            let reply = try await bench.post("/token", ["grant_type": "password"])
            #expect(reply.text("error") == "unsupported_grant_type")
            return reply
        },
        RouteCase(token, 400, .malformedRequest, reason: "unsupported_grant_type") { bench in
            let reply = try await bench.post("/token", ["grant_type": RouterBench.exchange])
            #expect(reply.text("error_description")?.contains("https://client.example/token") == true)
            return reply
        },
        RouteCase(token, 400, .malformedRequest, reason: "unsupported_grant_type") { bench in
            let reply = try await bench.askToken(
                ["grant_type": "client_credentials"], on: try await bench.fixture.connectNewDevice())
            #expect(reply.text("error_description")?.contains("https://public.example/token") == true)
            return reply
        },
        RouteCase(token, 400, .malformedRequest, reason: "invalid_scope") { bench in
            let reply = try await bench.taken(try bench.assertion(), scope: "sessions.read keys.write")
            #expect(reply.text("error") == "invalid_scope")
            return reply
        },
        RouteCase(
            token, 400, .malformedRequest, reason: "invalid_target",
            refused { bench, person in
                let other = UUID().uuidString.lowercased()
                let reply = try await bench.exchanged(person.token, audience: other, on: person.connection)
                #expect(reply.text("error") == "invalid_target")
                return reply
            }),
        RouteCase(
            token, 400, .malformedRequest, reason: "invalid_target",
            refused { bench, person in
                try await bench.askToken(
                    [
                        "grant_type": RouterBench.exchange, "subject_token": person.token,
                        "subject_token_type": RouterBench.accessToken, "resource": "https://api.example",
                    ], on: person.connection)
            }),
        RouteCase(
            token, 400, .malformedRequest,
            refused { bench, person in
                try await bench.askToken(
                    [
                        "grant_type": RouterBench.exchange, "subject_token": person.token, "audience": "x",
                        "subject_token_type": "urn:ietf:params:oauth:token-type:saml2",
                    ], on: person.connection)
            }),
        RouteCase(
            token, 400, .malformedRequest,
            refused { bench, person in
                try await bench.askToken(
                    [
                        "grant_type": RouterBench.exchange, "subject_token": person.token,
                        "subject_token_type": RouterBench.accessToken, "actor_token": "x",
                        "audience": person.session.providerID.description,
                    ], on: person.connection)
            }),
        RouteCase(
            token, 400, .malformedRequest,
            refused { bench, person in
                try await bench.askToken(
                    [
                        "grant_type": RouterBench.exchange, "subject_token": person.token,
                        "subject_token_type": RouterBench.accessToken, "client_id": UUID().uuidString,
                        "audience": person.session.providerID.description,
                    ], on: person.connection)
            }),
        RouteCase(
            token, 400, .invalidDPoPProof, reason: "malformed",
            refused { bench, person in
                try await bench.exchanged(person.token, proofs: ["x"], on: person.connection)
            }),
        RouteCase(
            token, 400, .sessionChallenged,
            refused { bench, person in
                bench.fixture.clock.advance(3600)
                let reply = try await bench.exchanged(person.token, on: person.connection)
                #expect(reply.text("error") == "invalid_request")
                return reply
            }),
        RouteCase(
            token, 400, .bindingMismatch,
            refused { bench, person in
                let thief = try await bench.fixture.connectNewDevice()
                let reply = try await bench.exchanged(person.token, on: thief)
                #expect(try await person.send("GET /sessions/current").code == "session_challenged")
                return reply
            }),
        RouteCase(
            token, 400, .userBanned,
            refused { bench, person in
                try await bench.ban(person)
                #expect(try await bench.exchanged(person.token, on: person.connection).code == "session_destroyed")
                let reply = try await bench.granted(on: person.connection)
                #expect(reply.text("error") == "invalid_grant" && reply.text("export_token") != nil)
                return reply
            }),
        RouteCase(token, 401, .providerTokenRequired) { bench in
            let reply = try await bench.post("/token", ["grant_type": "client_credentials"])
            #expect(reply.text("error") == "invalid_client")
            return reply
        },
        RouteCase(token, 401, .providerTokenInvalid) { bench in
            try await bench.post(
                "/token",
                [
                    "grant_type": "client_credentials", "client_assertion": try bench.assertion(),
                    "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                    "client_id": UUID().uuidString.lowercased(),
                ])
        },
        RouteCase(token, 401, .providerTokenInvalid) { bench in
            try await bench.post(
                "/token",
                [
                    "grant_type": "client_credentials", "client_assertion": try bench.assertion(),
                    "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:saml2-bearer",
                ])
        },
        RouteCase(token, 403, .certificateRevoked) { bench in
            let person = try await bench.signIn()
            _ = try await person.send("DELETE /certificates/current")
            let reply = try await bench.exchanged(person.token, on: person.connection)
            #expect(reply.text("error") == "invalid_client")
            return reply
        },
        RouteCase(token, 415, .unsupportedMediaType) { bench in
            try await bench.open("POST /token", body: "{}")
        },
        RouteCase(token, 429, .rateLimited, policy: RouterBench.policy { $0.sessions.createdPerMinute = 1 }) { bench in
            let connection = try await bench.fixture.connectNewDevice()
            #expect(try await bench.granted(on: connection).status == 200)
            let reply = try await bench.granted(on: connection)
            #expect(reply.text("error") == "temporarily_unavailable")
            return reply
        },
        RouteCase("POST /introspect", 200) { bench in
            let person = try await bench.signIn()
            let reply = try await bench.post("/introspect", try proved(bench, token: person.token))
            #expect(reply["active"] == .bool(true))
            return reply
        },
        RouteCase("POST /revoke", 200) { bench in
            let person = try await bench.signIn()
            let reply = try await bench.post("/revoke", try proved(bench, token: person.token))
            #expect(try await person.send("GET /me").code == "session_destroyed")
            return reply
        },
        RouteCase("POST /introspect", 400, .malformedRequest) { bench in
            try await bench.post("/introspect", try proved(bench, token: "x"), bearer: try bench.bearer())
        },
        RouteCase("POST /revoke", 403, .insufficientScope) { bench in
            let reply = try await bench.post(
                "/revoke", ["token": "x"], bearer: try await bench.access("sessions.read"))
            #expect(reply.text("error") == "insufficient_scope")
            return reply
        },
        RouteCase("POST /introspect", 403, .insufficientScope) { bench in
            try await bench.post("/introspect", ["token": "x"], bearer: try await bench.access("users.read"))
        },
        RouteCase("GET /provider/users/{external_id}", 403, .insufficientScope) { bench in
            try await bench.open("GET /provider/users/ann", bearer: try await bench.access("sessions.read"))
        },
        RouteCase("GET /provider/users/{external_id}/history", 403, .insufficientScope) { bench in
            try await bench.open("GET /provider/users/ann/history", bearer: try await bench.access("users.read"))
        },
        RouteCase("GET /provider/user-ids/{user_id}", 403, .insufficientScope) { bench in
            try await bench.open(
                "GET /provider/user-ids/\(UUID().uuidString)", bearer: try await bench.access("sessions.read"))
        },
        RouteCase("DELETE /provider/users/{external_id}/sessions", 403, .insufficientScope) { bench in
            try await bench.open("DELETE /provider/users/ann/sessions", bearer: try await bench.access("users.read"))
        },
        RouteCase("POST /provider/token-check", 403, .insufficientScope) { bench in
            try await bench.open(
                "POST /provider/token-check", body: "{}", bearer: try await bench.access("users.read"))
        },
        RouteCase("GET /provider/webhook", 403, .insufficientScope) { bench in
            try await bench.open("GET /provider/webhook", bearer: try await bench.access("users.read"))
        },
    ]

    private static func proved(_ bench: RouterBench, token: String) throws -> KeyValuePairs<String, String> {
        [
            "token": token, "client_assertion": try bench.assertion(),
            "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        ]
    }
}
