import Domain
import Encoding
import Fixtures
import Foundation
import HTTPTypes
import Operations
import Testing
import Tokens

@testable import API

/// Bent tokens of providers: identity tokens and security events.
extension ProblemCase {
    typealias Edit = @Sendable (inout TokenDraft) -> Void

    /// The time of a new bench.
    static let now = TestAuthority.referenceTime
    static let seconds = Int64(now.timeIntervalSince1970)

    /// What both kinds of token are refused for.
    private static func bentByProviders(live: @escaping @Sendable (inout TokenDraft, Int64) -> Void) -> [(
        Refusal.Reason, String, Edit
    )] {
        [
            (.unsupportedHeader, "has crit", { $0[header: "crit"] = .array([.string("exp")]) }),
            (.wrongType, "typ is not", { $0[header: "typ"] = .string("JWE") }),
            (.unknownKey, "kid is not a key of this provider", { $0[header: "kid"] = .string(UUID().uuidString) }),
            (.algorithmMismatch, "alg is not ES256", { $0[header: "alg"] = .string("RS256") }),
            (.expired, " ago", { live(&$0, -7200) }),
            (.notYetValid, "in the future", { live(&$0, 61) }),
            (.unknownIssuer, "iss is not the id", { $0[claim: "iss"] = .string(UUID().uuidString) }),
            (.wrongAudience, "aud does not name", { $0[claim: "aud"] = .string("other.example") }),
        ]
    }

    // Identity tokens.

    /// A token for alice around a nonce.
    private static func identity(
        _ bench: RouterBench, _ nonce: String, by signer: ProviderSigner? = nil, kid: ProviderKeyID? = nil,
        _ edit: Edit = { _ in }
    ) throws -> String {
        let fixture = bench.fixture
        return try (signer ?? fixture.signer).identityToken(
            provider: fixture.registration.provider.id, kid: kid ?? fixture.registration.keyID, externalID: "alice",
            nonce: nonce, now: fixture.clock.now, edit: edit)
    }

    private static func create(
        _ token: String, _ bench: RouterBench, on connection: ClientConnection, app: String? = nil
    ) async throws -> Reply {
        let body = JSONValue.object([
            "identity_token": .string(token), "app_id": app.map { .string($0) },
        ])
        return try await bench.client("POST /sessions", json: body.jsonText, on: connection)
    }

    /// Signs in by a bent token, and then by a good one around the nonce of the refusal.
    private static func signIn(
        _ reason: Refusal.Reason, _ says: String,
        by token: @escaping @Sendable (RouterBench, ClientConnection) async throws -> String
    ) -> ProblemCase {
        ProblemCase(.invalidIdentityToken, reason, says) { bench in
            let connection = try await bench.fixture.connectNewDevice()
            let refused = try await create(try await token(bench, connection), bench, on: connection)
            let nonce = try #require(refused.text("nonce"))
            return (refused, try await create(try identity(bench, nonce), bench, on: connection))
        }
    }

    /// A key that was added and retired.
    private static func retiredKey(_ bench: RouterBench) async throws -> (ProviderSigner, ProviderKeyID) {
        let signer = try ProviderSigner(.es256)
        let added = try await bench.addKey(signer.publicKeyPEM, provenBy: signer)
        let id = try #require(added.text("key_id"))
        #expect(try await bench.proven("DELETE /provider/keys/\(id)").status == 204)
        return (signer, try #require(ProviderKeyID(id[...])))
    }

    private static let bentIdentities =
        bentByProviders { $0.lives(from: now + Double($1), for: 300) } + onlyBentIdentities

    private static let onlyBentIdentities: [(Refusal.Reason, String, Edit)] = [
        (.malformed, "prn is not a string", { $0[claim: "prn"] = .integer(7) }),
        (.missingClaim, "nce is missing", { $0[claim: "nce"] = nil }),
        (.lifetimeTooLong, "601 s", { $0.lives(from: now, for: 601) }),
        (.nonceUnknown, "did not issue the nonce", { $0[claim: "nce"] = .string("mine") }),
    ]

    static let ofIdentityTokens: [ProblemCase] = ofBentIdentities + ofOtherIdentities

    private static let ofBentIdentities: [ProblemCase] = bentIdentities.map { reason, says, edit in
        signIn(reason, says) { bench, connection in
            try identity(bench, bench.fixture.context.issueNonce(connection).nonce, edit)
        }
    }

    private static let ofOtherIdentities: [ProblemCase] = [
        signIn(.badSignature, "does not verify") { bench, connection in
            try identity(
                bench, bench.fixture.context.issueNonce(connection).nonce, by: try ProviderSigner(.es256))
        },
        signIn(.keyRetired, "is retired") { bench, connection in
            let (signer, id) = try await retiredKey(bench)
            return try identity(
                bench, bench.fixture.context.issueNonce(connection).nonce, by: signer, kid: id)
        },
        signIn(.nonceExpired, "expired") { bench, connection in
            let nonce = bench.fixture.context.issueNonce(connection)
            bench.fixture.clock.advance(nonce.expiresAt.timeIntervalSince(bench.fixture.clock.now) + 1)
            return try identity(bench, nonce.nonce)
        },
        signIn(.nonceUsed, "used before") { bench, connection in
            let token = try identity(bench, bench.fixture.context.issueNonce(connection).nonce)
            #expect(try await create(token, bench, on: connection).status == 201)
            return token
        },
        signIn(.nonceOtherDevice, "another device") { bench, _ in
            let other = try await bench.fixture.connectNewDevice()
            return try identity(bench, bench.fixture.context.issueNonce(other).nonce)
        },
        ProblemCase(.invalidIdentityToken, .appForbidden, "forbids this app") { bench in
            let person = try await bench.signIn()
            let app = try await bench.fixture.admin.addApplication("Second", to: "test").id.description
            try await bench.fixture.watch.poll()
            #expect(try await person.send("DELETE /me/apps/\(app)").status == 204)
            let refused = try await create(
                try bench.fixture.identityToken("alice", on: person.connection), bench, on: person.connection,
                app: app)
            #expect(try await person.send("PUT /me/apps/\(app)").status == 204)
            let token = try identity(bench, try #require(refused.text("nonce")))
            return (refused, try await create(token, bench, on: person.connection, app: app))
        },
    ]

    // Security events.

    private static func event(
        _ bench: RouterBench, by signer: ProviderSigner? = nil, kid: ProviderKeyID? = nil, _ edit: Edit = { _ in }
    ) throws -> String {
        let fixture = bench.fixture
        let provider = JSONValue.string(fixture.registration.provider.id.description)
        var draft = TokenDraft(header: [
            JSONMember(name: "alg", value: .string("ES256")), JSONMember(name: "typ", value: .string("secevent+jwt")),
            JSONMember(name: "kid", value: .string((kid ?? fixture.registration.keyID).description)),
        ])
        draft[claim: "iss"] = provider
        draft[claim: "aud"] = .string(ServiceFixture.realm)
        draft[claim: "iat"] = .integer(seconds)
        draft[claim: "jti"] = .string(UUID().uuidString)
        draft[claim: "sub_id"] = .object(["format": .string("iss_sub"), "iss": provider, "sub": .string("alice")])
        draft[claim: "events"] = .object([JSONMember(name: ProviderEvent.sessionRevokedType, value: .object([]))])
        edit(&draft)
        return try (signer ?? fixture.signer).sign(draft)
    }

    private static func notify(
        _ reason: Refusal.Reason, _ says: String, by token: @escaping @Sendable (RouterBench) async throws -> String
    ) -> ProblemCase {
        ProblemCase(.providerTokenInvalid, reason, says) { bench in
            func send(_ token: String) async throws -> Reply {
                try await bench.open("POST /provider/events", body: token, type: WebhookRouteTests.event)
            }
            return (try await send(try await token(bench)), try await send(try event(bench)))
        }
    }

    private static let bentEvents =
        bentByProviders { $0[claim: "iat"] = .integer(seconds + $1) } + onlyBentEvents

    private static let onlyBentEvents: [(Refusal.Reason, String, Edit)] = [
        (.missingClaim, "jti is missing", { $0[claim: "jti"] = nil }),
        (.malformed, "sub_id must be", { $0[claim: "sub_id"] = nil }),
        (
            .unexpectedState, "asked for none",
            { draft in
                draft[claim: "sub_id"] = .object(["format": .string("opaque"), "id": .string("stream")])
                draft[claim: "events"] = .object([
                    JSONMember(
                        name: StreamEvent.verificationType, value: .object(["state": .string("unasked")]))
                ])
            }
        ),
    ]

    static let ofProviderEvents: [ProblemCase] = ofBentEvents + ofOtherEvents

    private static let ofBentEvents: [ProblemCase] = bentEvents.map { reason, says, edit in
        notify(reason, says) { bench in try event(bench, edit) }
    }

    private static let ofOtherEvents: [ProblemCase] = [
        notify(.malformed, "has 1 part:") { _ in "x" },
        notify(.badSignature, "does not verify") { try event($0, by: try ProviderSigner(.es256)) },
        notify(.keyRetired, "is retired") { bench in
            let (signer, id) = try await retiredKey(bench)
            return try event(bench, by: signer, kid: id)
        },
    ]
}

extension RouterBench {
    /// Adds a key of the provider over HTTP.
    func addKey(_ key: String, provenBy signer: ProviderSigner) async throws -> Reply {
        let proof = try signer.possessionProof(provider: fixture.registration.provider.id, now: fixture.clock.now)
        let body = JSONValue.object(["public_key": .string(key), "proof": .string(proof)]).jsonText
        return try await proven("POST /provider/keys", body: body)
    }
}
