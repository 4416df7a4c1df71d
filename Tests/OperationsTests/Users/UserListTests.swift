import Domain
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

@Suite("Users in a list")
struct UserListTests {
    @Test("are read in as many statements as one of them", arguments: StoreKind.shared)
    func statements(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let connection = try await fixture.connectNewDevice()
            var ids: [UserID] = []
            for name in ["carol", "alice", "bob"] {
                ids.append(try await fixture.opened(name, on: connection).session.userID)
            }
            let counter = StatementCounter(fixture.store)
            var counts: [StatementCounter.Counts] = []
            for some in [Array(ids.prefix(1)), ids] {
                let listed = try await counter.read { try UserSummary.list(Set(some), in: $0) }
                counts.append(counter.take())
                #expect(Set(listed.map(\.user.id)) == Set(some))
                #expect(listed.map(\.address) == listed.map(\.address).sorted())
            }
            #expect(counts.first == counts.last && counts.first != StatementCounter.Counts())
            let nobody = try await counter.read { try UserSummary.list([UserID(UUID())], in: $0) }
            #expect(nobody.isEmpty)
        }
    }
}
