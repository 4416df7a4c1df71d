import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Testing

@Suite("Sessions")
struct SessionTests {
    private func text(_ opened: Service.OpenedSession) throws -> String { try #require(opened.token).text.reveal() }

    @Test("An idle session is challenged, renewed under the same id with a new token, and the old token is dead")
    func idle() async throws {
        try await ServiceFixture.run { fixture in
            let connection = try await fixture.connectNewDevice()
            let first = try await fixture.opened("alice", on: connection)
            let token = try text(first)
            _ = try await fixture.context.checkSession(token, on: connection)
            fixture.clock.advance(3600)
            await #expect(throws: Refusal(.sessionChallenged, "")) {
                try await fixture.context.checkSession(token, on: connection)
            }
            let renewed = try await fixture.context.renewSession(
                sessionToken: token, identityToken: try fixture.identityToken("alice", on: connection), on: connection)
            #expect(renewed.session.id == first.session.id)
            #expect(renewed.session.userID == first.session.userID)
            await #expect(throws: Refusal(.sessionDestroyed, "")) {
                try await fixture.context.checkSession(token, on: connection)
            }
            _ = try await fixture.context.checkSession(try text(renewed), on: connection)
        }
    }

    @Test("Only the session's own user renews it, and only while it is challenged")
    func foreignRenewal() async throws {
        try await ServiceFixture.run { fixture in
            let connection = try await fixture.connectNewDevice()
            let token = try text(try await fixture.opened("alice", on: connection))
            await #expect(throws: Refusal(.conflict, "")) {
                try await fixture.context.renewSession(
                    sessionToken: token, identityToken: try fixture.identityToken("alice", on: connection),
                    on: connection
                )
            }
            fixture.clock.advance(3600)
            await #expect(throws: Refusal(.conflict, "")) {
                try await fixture.context.renewSession(
                    sessionToken: token, identityToken: try fixture.identityToken("mallory", on: connection),
                    on: connection)
            }
        }
    }

    @Test(
        "Renewal knows a user by the id: a name in another Unicode form is another user's, another app's token refused")
    func equivalentNames() async throws {
        try await ServiceFixture.run { fixture in
            let connection = try await fixture.connectNewDevice()
            let (composed, decomposed) = ("Zo\u{EB}", "Zoe\u{308}")
            let first = try await fixture.opened(composed, on: connection)
            #expect(try await fixture.opened(decomposed, on: connection).session.userID != first.session.userID)
            fixture.clock.advance(3600)
            let token = try text(first)
            await #expect(throws: Refusal(.conflict, "")) {
                try await fixture.context.renewSession(
                    sessionToken: token, identityToken: try fixture.identityToken(decomposed, on: connection),
                    on: connection)
            }
            func identity(app: String) throws -> String {
                try fixture.signer.identityToken(
                    provider: fixture.registration.provider.id, kid: fixture.registration.keyID, externalID: composed,
                    nonce: fixture.context.issueNonce(connection).nonce, now: fixture.clock.now
                ) { $0[claim: "app_id"] = .string(app) }
            }
            await #expect(throws: Refusal(.invalidIdentityToken, "", reason: .wrongAudience)) {
                try await fixture.context.renewSession(
                    sessionToken: token, identityToken: try identity(app: UUID().uuidString), on: connection)
            }
            let renewed = try await fixture.context.renewSession(
                sessionToken: token,
                identityToken: try identity(app: first.session.applicationID.description), on: connection)
            #expect(renewed.session.userID == first.session.userID)
        }
    }

    @Test("A day ends a session that is used all the time")
    func absolute() async throws {
        try await ServiceFixture.run { fixture in
            let connection = try await fixture.connectNewDevice()
            let token = try text(try await fixture.opened("alice", on: connection))
            for _ in 0..<47 {
                fixture.clock.advance(1800)
                _ = try await fixture.context.checkSession(token, on: connection)
            }
            fixture.clock.advance(1800)
            await #expect(throws: Refusal(.sessionExpired, "")) {
                try await fixture.context.checkSession(token, on: connection)
            }
        }
    }

    @Test("Where attachment is explicit a token alone does not bring a session to another connection")
    func explicit() async throws {
        var policy = Policy()
        policy.sessions.attach = .explicit
        try await ServiceFixture.run(policy) { fixture in
            let connection = try await fixture.connectNewDevice()
            let opened = try await fixture.opened("alice", on: connection)
            let token = try text(opened)
            let other = try await fixture.connect(connection.thumbprint)
            await #expect(throws: Refusal(.sessionNotAttached, "")) {
                try await fixture.context.checkSession(token, on: other)
            }
            _ = try await fixture.context.resumeSession(
                userID: opened.session.userID.description, sessionToken: token, on: other)
            _ = try await fixture.context.checkSession(token, on: other)
        }
    }

    @Test("The ninth session of a user on a device ends the first")
    func cap() async throws {
        try await ServiceFixture.run { fixture in
            let connection = try await fixture.connectNewDevice()
            var tokens: [String] = []
            for _ in 0..<9 {
                tokens.append(try text(try await fixture.opened("alice", on: connection)))
                fixture.clock.advance(1)
            }
            await #expect(throws: Refusal(.sessionDestroyed, "")) {
                try await fixture.context.checkSession(tokens[0], on: connection)
            }
            for token in tokens.dropFirst() { _ = try await fixture.context.checkSession(token, on: connection) }
        }
    }

    @Test("A stolen token challenges its session, and a nonce is accepted once and for ten minutes")
    func theft() async throws {
        try await ServiceFixture.run { fixture in
            let connection = try await fixture.connectNewDevice()
            let token = try text(try await fixture.opened("alice", on: connection))
            let thief = try await fixture.connectNewDevice()
            await #expect(throws: Refusal(.bindingMismatch, "")) {
                try await fixture.context.checkSession(token, on: thief)
            }
            await #expect(throws: Refusal(.sessionChallenged, "")) {
                try await fixture.context.checkSession(token, on: connection)
            }

            let identity = try fixture.identityToken("bob", on: connection)
            _ = try await fixture.context.openSession(identityToken: identity, applicationID: nil, on: connection)
            await #expect(throws: Refusal(.invalidIdentityToken, "", reason: .nonceUsed)) {
                try await fixture.context.openSession(identityToken: identity, applicationID: nil, on: connection)
            }
            let nonce = fixture.context.issueNonce(connection).nonce
            fixture.clock.advance(600)
            let late = try fixture.signer.identityToken(
                provider: fixture.registration.provider.id, kid: fixture.registration.keyID, externalID: "bob",
                nonce: nonce, now: fixture.clock.now)
            await #expect(throws: Refusal(.invalidIdentityToken, "", reason: .nonceExpired)) {
                try await fixture.context.openSession(identityToken: late, applicationID: nil, on: connection)
            }
        }
    }

    @Test("Thirty sessions a minute are enough for one certificate")
    func rate() async throws {
        try await ServiceFixture.run { fixture in
            let connection = try await fixture.connectNewDevice()
            for number in 0..<30 { _ = try await fixture.opened("user-\(number)", on: connection) }
            await #expect(throws: Refusal(.rateLimited, "")) { try await fixture.opened("one more", on: connection) }
            fixture.clock.advance(2)
            _ = try await fixture.opened("one more", on: connection)
        }
    }

    @Test("A session that another node has ended is let in no more by the node that was asked to end it, too")
    func endedElsewhere() async throws {
        try await ServiceFixture.run { fixture in
            let connection = try await fixture.connectNewDevice()
            let token = try #require(try await fixture.opened("alice", on: connection).token).text.reveal()
            let second = fixture.context(node: ServingNode(caches: Caches(store: fixture.store)))
            let there = try await fixture.connect(connection.thumbprint)
            _ = try await second.checkSession(token, on: there)
            try await fixture.context.endSession(token, on: connection)
            // The second node has not heard of it.
            _ = try await second.checkSession(token, on: there)
            try await second.endSession(token, on: there)
            let refusal = await #expect(throws: Refusal.self) { try await second.checkSession(token, on: there) }
            #expect(refusal?.code == .sessionDestroyed)
        }
    }
}
