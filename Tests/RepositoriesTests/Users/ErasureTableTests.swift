import Database
import Domain
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Table erasures")
struct ErasureTableTests {
    @Test("lists users whose rows are left, the longest first, until the last row is gone", arguments: StoreKind.shared)
    func order(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (ada, eve) = (tables.user, try await tables.newUser("eve"))
            try await tables.write { transaction in
                try ErasureRepository(transaction).begin(eve, at: TestTables.now)
                try ErasureRepository(transaction).begin(ada, at: TestTables.now.addingTimeInterval(-1))
                // A second beginning changes nothing.
                try ErasureRepository(transaction).begin(eve, at: TestTables.now.addingTimeInterval(-9))
            }
            var order: [UserID] = []
            for _ in 0..<2 {
                let next = try await tables.read { try ErasureRepository($0).next() }
                let entry = try #require(next)
                order.append(entry.user)
                try await tables.write { try ErasureRepository($0).finish(entry.user) }
                let isLeft = try await tables.read { try ErasureRepository($0).isUnderWay(entry.user) }
                #expect(!isLeft)
            }
            #expect(order == [ada, eve])
            let none = try await tables.read { try ErasureRepository($0).next()?.user }
            #expect(none == nil)
        }
    }
}
