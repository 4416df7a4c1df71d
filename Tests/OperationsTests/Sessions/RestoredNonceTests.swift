import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

@Suite("Nonces beside a restore")
struct RestoredNonceTests {
    @Test("A node that missed a restore opens and renews no session by a nonce of before", arguments: StoreKind.shared)
    func refused(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let connection = try await fixture.connectNewDevice()
            let opened = try await fixture.opened("alice", on: connection)
            let text = try #require(opened.token).text.reveal()
            fixture.clock.advance(fixture.policy[\.sessions].idleLifetime + 60)
            let tokens = try ["alice", "bob"].map { try fixture.identityToken($0, on: connection) }
            try await fixture.store.write { try RestoreRepository($0).beginNonceGeneration(UUID()) }
            await #expect(throws: Refusal(.unavailable, "")) {
                try await fixture.context.openSession(identityToken: tokens[1], applicationID: nil, on: connection)
            }
            await #expect(throws: Refusal(.unavailable, "")) {
                try await fixture.context.renewSession(sessionToken: text, identityToken: tokens[0], on: connection)
            }
            let spent = try await fixture.store.read { try $0.first("SELECT count(*) FROM sessions")?.integer(0) }
            #expect(spent == 1)
        }
    }
}
