import Database
import Domain
import Fixtures
import Foundation
import Operations
import Testing

@Suite("A sign-in across a network")
struct SignInStatementTests {
    @Test("waits for the store twice to open a session, and never to check one that is known")
    func exchanges() async throws {
        try await ServiceFixture.run(on: .postgresql) { fixture in
            let store = try #require(fixture.store as? PostgreSQLDatabase)
            let connection = try await fixture.connectNewDevice()
            let first = try await fixture.opened("known", on: connection)
            for (user, kind) in [("known", "a known user"), ("new", "a new user")] {
                let token = try fixture.identityToken(user, on: connection)
                let before = store.exchanges
                _ = try await fixture.open(identityToken: token, applicationID: nil, on: connection)
                #expect(store.exchanges - before == 2, "\(kind)")
            }
            let before = store.exchanges
            let session = try await fixture.check(try #require(first.token).text.reveal(), on: connection)
            #expect(store.exchanges == before)
            #expect(session.id == first.session.id)
        }
    }
    @Test("knows a user whose row a node of the version before wrote, and the ban on it")
    func rowOfBefore() async throws {
        try await ServiceFixture.run { fixture in
            let id = UserID(UUID())
            try await fixture.store.write {
                try $0.execute(
                    """
                    INSERT INTO users (id, provider_id, external_id, assurance, created_at)
                    VALUES ($1, $2, $3, $4, $5)
                    """,
                    [
                        .text(id.description), .text(fixture.registration.provider.id.description), .text("early"),
                        .text("none"), .integer(0),
                    ])
            }
            let connection = try await fixture.connectNewDevice()
            #expect(try await fixture.opened("early", on: connection).session.userID == id)
            try await BanBench(fixture).ban(.user("test/early"))
            await #expect(throws: Refusal(.userBanned, "", banReason: Ban.Reason(rawValue: "spam"))) {
                _ = try await fixture.opened("early", on: connection)
            }
        }
    }
}
