import CountersignClient
import Fixtures
import Foundation
import HTTPTypes
import Testing

/// The service acts, and its answer never comes.
@Suite("An answer that is lost")
struct LostAnswerTests {
    /// An app whose connections to the client listener can be cut.
    private func app(_ service: LiveService) async throws -> (App, Relay) {
        let relay = try await Relay(to: service.clientURL.port ?? 0)
        var named = service.service()
        named.clientURL = try #require(URL(string: "https://127.0.0.1:\(relay.port)"))
        let app = try App(named)
        try await app.client.certify()
        return (app, relay)
    }

    @Test("of a sign-in: the provider is asked again, around another nonce")
    func signIn() async throws {
        let service = try await LiveService()
        let (app, relay) = try await app(service)
        let asked = Counter()
        let session = try await app.client.signIn { nonce in
            asked.add()
            if asked.count == 1 { relay.loseAnswer() }
            return try service.identityToken("alice", nonce.value)
        }
        #expect(asked.count == 2 && app.count("/nonces") >= 2)
        try await app.client.act()
        #expect(try await app.client.session?.id == session.id)
    }

    @Test("of a renewal: the lost token is worth nothing, and a new session takes its place")
    func renewal() async throws {
        let service = try await LiveService()
        let (app, relay) = try await app(service)
        let asked = Counter()
        let session = try await app.client.signIn { nonce in
            asked.add()
            if asked.count == 2 { relay.loseAnswer() }
            return try service.identityToken("alice", nonce.value)
        }
        try await service.admin("session", "challenge", session.id.uuidString.lowercased())
        _ = try await App(service.service(), directory: app.directory).refusal()
        try await app.client.act()
        let now = try await app.client.session
        #expect(now?.userID == session.userID && asked.count >= 3)
    }

    @Test("of a call: what is safe is repeated, of the rest the app learns that it may have been carried out")
    func calls() async throws {
        let service = try await LiveService()
        let (app, relay) = try await app(service)
        try await app.client.signIn(service.source("alice"))
        relay.loseAnswer()
        try await app.client.act()
        #expect(app.count("/sessions/current") == 2)
        relay.loseAnswer()
        do throws(Refusal) {
            _ = try await app.client.call(HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/nonces"))
            Issue.record("an answer that was lost came")
        } catch {
            guard case .unanswered = error else { throw error }
        }
        try await app.client.act()
    }
}
