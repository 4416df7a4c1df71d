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
            _ = try await fixture.context.checkSession(token, on: connection)
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
            _ = try await fixture.context.checkSession(known, on: connection)
        }
    }

    @Test("that is no session token, such as an access token, is refused as an ended session is, with its own sentence")
    func otherToken() async throws {
        try await ServiceFixture.run { fixture in
            let connection = try await fixture.connectNewDevice()
            let answer = try #require(await refusal("header.payload.signature", fixture, on: connection))
            #expect(answer == .sessionEnded && answer.detail == Refusal.notSessionToken.detail)
        }
    }
}
