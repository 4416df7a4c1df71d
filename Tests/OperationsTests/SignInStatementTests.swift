import Database
import Fixtures
import Foundation
import Identity
import Operations
import Testing

@Suite("A sign-in across a network")
struct SignInStatementTests {
    @Test("waits for the store twice to open a session, and never to check one that is known")
    func exchanges() async throws {
        try await House.inhabit(on: .postgresql) { house in
            let store = try #require(house.store as? PostgreSQLDatabase)
            let connection = try await house.connectNewDevice()
            let first = try await house.opened("known", on: connection)
            for (user, kind) in [("known", "a known user"), ("new", "a new user")] {
                let token = try house.identityToken(user, on: connection)
                let before = store.exchanges
                _ = try await house.open(identityToken: token, applicationID: nil, on: connection)
                #expect(store.exchanges - before == 2, "\(kind)")
            }
            let before = store.exchanges
            let session = try await house.check(try #require(first.token).text.reveal(), on: connection)
            #expect(store.exchanges == before)
            #expect(session.id == first.session.id)
        }
    }
}
