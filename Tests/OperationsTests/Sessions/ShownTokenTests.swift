import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Testing

@Suite("A session token that is shown")
struct ShownTokenTests {
    private func refusal(
        _ token: String, _ fixture: ServiceFixture, on connection: ClientConnection
    ) async -> Refusal? {
        do {
            _ = try await fixture.check(token, on: connection)
            return nil
        } catch {
            return error as? Refusal
        }
    }

    @Test(
        "with the id of a session and another secret gets the answer of an unknown id, and leaves as little behind",
        arguments: StoreKind.shared)
    func wrongSecret(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let connection = try await fixture.connectNewDevice()
            let opened = try await fixture.opened("alice", on: connection)
            func entries() async throws -> Int64? {
                try await fixture.store.read { try $0.first("SELECT count(*) FROM audit_entries")?.integer(0) }
            }
            let before = try await entries()
            let secret = [UInt8](repeating: 7, count: 32)
            var answers: [Refusal] = []
            for id in [opened.session.id, SessionID(UUID())] {
                let token = SessionToken(of: id, randomBytes: secret).text.reveal()
                answers.append(try #require(await refusal(token, fixture, on: connection)))
            }
            let known = try #require(opened.token).text.reveal()
            let text = String(known.dropLast()) + (known.hasSuffix("A") ? "B" : "A")
            answers.append(try #require(await refusal(text, fixture, on: connection)))
            for answer in answers {
                #expect(answer == Refusal(.sessionDestroyed, "") && answer.detail == answers[0].detail)
            }
            #expect(try await entries() == before)
            _ = try await fixture.check(known, on: connection)
        }
    }

    @Test("in the form of before is found by its hash, and a renewal gives one of today's", arguments: StoreKind.shared)
    func former(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let connection = try await fixture.connectNewDevice()
            let opened = try await fixture.opened("alice", on: connection)
            let former = Base64URL.encode([UInt8](repeating: 9, count: 32))
            // Its id was random, too.
            let id = SessionID(UUID())
            try await fixture.store.write {
                try $0.execute(
                    "UPDATE sessions SET token_hash = $2, id = $3 WHERE id = $1",
                    [
                        .text(opened.session.id.description), .bytes(Digest256.of(former).bytes),
                        .text(id.description),
                    ])
            }
            #expect(try await fixture.check(former, on: connection).id == id)
            fixture.clock.advance(fixture.policy[\.sessions].idleLifetime + 60)
            let renewed = try await fixture.renew(
                sessionToken: former, identityToken: try fixture.identityToken("alice", on: connection), on: connection)
            let token = try #require(renewed.token).text.reveal()
            #expect(SessionToken(shown: token)?.sessionID == id)
            #expect(await refusal(former, fixture, on: connection) == Refusal(.sessionDestroyed, ""))
            #expect(try await fixture.check(token, on: connection).id == id)
        }
    }
}
