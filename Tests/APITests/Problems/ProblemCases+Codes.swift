import Domain
import Encoding
import Fixtures
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Operations
import Testing

@testable import API

/// The codes without reasons.
extension ProblemCase {
    /// A new session around the nonce of a refusal.
    private static func signedIn(after refused: Reply, _ person: SignedIn) async throws -> SignedIn {
        let fixture = person.bench.fixture
        let token = try fixture.signer.identityToken(
            provider: fixture.registration.provider.id, kid: fixture.registration.keyID, externalID: person.user,
            nonce: try #require(refused.text("nonce")), now: fixture.clock.now)
        let reply = try await person.bench.client(
            "POST /sessions", json: #"{"identity_token":"\#(token)"}"#, on: person.connection)
        return SignedIn(
            bench: person.bench, connection: person.connection, session: person.session,
            token: try #require(reply.text("session_token")), user: person.user)
    }

    private static func renew(_ person: SignedIn, nonce: String? = nil) async throws -> Reply {
        let fixture = person.bench.fixture
        let token = try fixture.signer.identityToken(
            provider: fixture.registration.provider.id, kid: fixture.registration.keyID, externalID: person.user,
            nonce: nonce ?? fixture.context.issueNonce(person.connection).nonce, now: fixture.clock.now)
        return try await person.send("POST /sessions/renew", json: #"{"identity_token":"\#(token)"}"#)
    }

    private static func session(
        _ code: Refusal.Code, _ says: String, _ end: @escaping @Sendable (SignedIn) async throws -> Void
    ) -> ProblemCase {
        ProblemCase(code, says) { bench in
            let person = try await bench.signIn()
            try await end(person)
            let refused = try await person.send("GET /me")
            return (refused, try await signedIn(after: refused, person).send("GET /me"))
        }
    }

    static let ofCredentials: [ProblemCase] = [
        ProblemCase(.sessionRequired, "requires a session") { bench in
            let person = try await bench.signIn()
            let refused = try await bench.client("GET /me", on: person.connection)
            return (refused, try await signedIn(after: refused, person).send("GET /me"))
        },
        session(.sessionExpired, "has expired") { $0.bench.fixture.clock.advance(90_001) },
        session(.sessionDestroyed, "was ended") { person in
            let ended = try await person.send("DELETE /sessions/current")
            #expect(ended.status == 204)
        },
        ProblemCase(.sessionChallenged, "is challenged") { bench in
            let person = try await bench.signIn()
            bench.fixture.clock.advance(3600)
            let refused = try await person.send("GET /me")
            return (refused, try await renew(person, nonce: refused.text("nonce")))
        },
        ProblemCase(
            .sessionNotAttached, "not attached", policy: RouterBench.policy { $0.sessions.attach = .explicit }
        ) { bench in
            let person = try await bench.signIn()
            let other = SignedIn(
                bench: bench, connection: try await bench.fixture.connect(person.connection.thumbprint),
                session: person.session, token: person.token, user: person.user)
            let refused = try await other.send("GET /me")
            let body = #"{"user_id":"\#(person.session.userID)","session_token":"\#(person.token)"}"#
            let resumed = try await bench.client("POST /sessions/resume", json: body, on: other.connection)
            #expect(resumed.status == 200)
            return (refused, try await other.send("GET /me"))
        },
        ProblemCase(.bindingMismatch, "certificate of another device") { bench in
            let person = try await bench.signIn()
            let refused = try await bench.client(
                "GET /me", authorization: "Layer session-token=\"\(person.token)\"",
                on: try await bench.fixture.connectNewDevice())
            return (refused, try await renew(person))
        },
        ProblemCase(.certificateRevoked, "certificate") { bench in
            let person = try await bench.signIn()
            #expect(try await person.send("DELETE /certificates/current").status == 204)
            return (try await person.send("GET /me"), try await bench.signIn().send("GET /me"))
        },
        ProblemCase(.userBanned, "is banned") { bench in
            let person = try await bench.signIn()
            try await bench.ban(person)
            let token = try bench.fixture.identityToken("alice", on: person.connection)
            let refused = try await bench.client(
                "POST /sessions", json: #"{"identity_token":"\#(token)"}"#, on: person.connection)
            let export = try #require(refused.text("export_token"))
            return (
                refused,
                try await bench.client(
                    "GET /me/export", authorization: "Layer export-token=\"\(export)\"", on: person.connection)
            )
        },
        ProblemCase(.providerTokenRequired, "provider token is missing") { bench in
            (try await bench.open("GET /provider"), try await bench.provider("GET /provider"))
        },
        ProblemCase(.providerTokenInvalid, "") { bench in
            (try await bench.open("GET /provider", bearer: "x.y.z"), try await bench.provider("GET /provider"))
        },
        ProblemCase(.insufficientScope, "users.read") { bench in
            _ = try await bench.signIn()
            func read(_ scope: String) async throws -> Reply {
                try await bench.open("GET /provider/users/alice", bearer: try await bench.access(scope))
            }
            return (try await read("sessions.read"), try await read("users.read"))
        },
    ]

    static let ofStates: [ProblemCase] = [
        ProblemCase(.notFound, "on the client listener") { bench in
            let person = try await bench.signIn()
            return (try await bench.open("GET /me"), try await person.send("GET /me"))
        },
        ProblemCase(code: "method_not_allowed", "accepts only") { bench in
            let person = try await bench.signIn()
            let refused = try await person.send("PUT /me")
            #expect(refused.headers[.allow]?.split(separator: ", ").contains("GET") == true)
            return (refused, try await person.send("GET /me"))
        },
        ProblemCase(.conflict, "Use it as it is") { bench in
            let person = try await bench.signIn()
            let refused = try await renew(person)
            #expect(refused.text("state") == "authenticated")
            return (refused, try await person.send("GET /me"))
        },
        ProblemCase(.gone, "Make a new one") { bench in
            let ann = try await bench.verified("ann", 1)
            let bob = try await bench.verified("bob", 2)
            let id = try await bench.askPermission(ann, bob)
            bench.fixture.clock.advance(14 * 86_400 + 1)
            try await bench.fixture.watch.poll()
            func again(_ person: SignedIn) async throws -> SignedIn {
                let opened = try await bench.fixture.opened(person.user, on: person.connection)
                return SignedIn(
                    bench: bench, connection: person.connection, session: opened.session,
                    token: try #require(opened.token).text.reveal(), user: person.user)
            }
            let refused = try await again(bob).send("POST /authorizations/\(id)/approval")
            let next = try await again(ann).send(
                "POST /authorizations", json: #"{"id":"\#(UUID())","to":"\#(bob.session.userID)"}"#)
            return (refused, next)
        },
        ProblemCase(.verificationFailed, "code is wrong") { bench in
            let person = try await bench.signIn()
            let id = try await bench.startPhone(number, person)
            let code = try bench.code(id, number, person)
            func check(_ code: String) async throws -> Reply {
                try await person.send("POST /phone-verifications/\(id)/check", json: #"{"code":"\#(code)"}"#)
            }
            return (try await check(code == "000000" ? "000001" : "000000"), try await check(code))
        },
        ProblemCase(.cardRejected, "show another card") { bench in
            let person = try await bench.signIn()
            try await bench.prove(number, person)
            let expired = try RouterBench.card { $0.expiry = CardSpecimen.day(2024, 12, 10) }
            let refused = try await person.send("POST /identity-cards", json: expired)
            return (refused, try await person.send("POST /identity-cards", json: try RouterBench.card()))
        },
        ProblemCase(.rateLimited, "again in") { bench in
            let person = try await bench.signIn()
            let id = try await bench.startPhone(number, person)
            let refused = try await person.send("POST /phone-verifications/\(id)/resend")
            bench.fixture.clock.advance(Double(try #require(refused.headers[.retryAfter])) ?? 0)
            return (refused, try await person.send("POST /phone-verifications/\(id)/resend"))
        },
        ProblemCase(.unavailable, "clock differs") { bench in
            let person = try await bench.signIn()
            let right = bench.fixture.policy[\.self]
            var wrong = right
            wrong.bans.maximumClockDifference = -1
            bench.fixture.policy.replace(with: wrong)
            let refused = try await person.send("GET /me")
            bench.fixture.policy.replace(with: right)
            return (refused, try await person.send("GET /me"))
        },
    ]

    static let ofMessages: [ProblemCase] = [
        ProblemCase(.malformedRequest, "$.phone_number is missing") { bench in
            let person = try await bench.signIn()
            let refused = try await person.send("POST /phone-verifications", json: "{}")
            return (
                refused, try await person.send("POST /phone-verifications", json: #"{"phone_number":"\#(number)"}"#)
            )
        },
        ProblemCase(.payloadTooLarge, "Send less") { bench in
            let connection = try await bench.fixture.connectNewDevice()
            let refused = try await bench.send(
                .client, "POST /nonces", headers: [.contentLength: "10000000"], on: connection)
            return (refused, try await bench.client("POST /nonces", on: connection))
        },
        ProblemCase(.unsupportedMediaType, "application/json") { bench in
            let person = try await bench.signIn()
            let body = #"{"phone_number":"\#(number)"}"#
            let refused = try await bench.send(
                .client, "POST /phone-verifications",
                headers: [
                    .contentType: "text/plain", .authorization: "Layer session-token=\"\(person.token)\"",
                ], body: RequestBody(buffer: ByteBuffer(string: body)), on: person.connection)
            return (refused, try await person.send("POST /phone-verifications", json: body))
        },
    ]
}
