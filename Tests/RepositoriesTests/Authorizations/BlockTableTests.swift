import Database
import Domain
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Table blocks")
struct BlockTableTests {
    @Test("A block is kept once for each pair, and goes with who made it", arguments: StoreKind.shared)
    func blocks(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (eve, bob) = (try await tables.newUser("eve"), try await tables.newUser("bob"))
            let (listed, holds) = try await tables.write { transaction in
                let records = BlockRepository(transaction)
                for (place, other) in [eve, bob, eve].enumerated() {
                    _ = try records.insert(
                        tables.user, blocks: other, at: TestTables.now.addingTimeInterval(Double(place)))
                }
                _ = try records.insert(eve, blocks: tables.user, at: TestTables.now)
                return (
                    try records.list(of: tables.user),
                    try [records.holds(tables.user, blocks: eve), records.holds(bob, blocks: eve)]
                )
            }
            #expect(listed == [eve, bob])
            #expect(holds == [true, false])
            try await tables.write { transaction in
                try BlockRepository(transaction).delete(tables.user, blocks: bob)
                try BlockRepository(transaction).erase(tables.user)
            }
            #expect(try await tables.count("blocks") == 1)
            await #expect(throws: StoreError.constraint(kind: .foreignKey)) {
                try await tables.write {
                    try BlockRepository($0).insert(eve, blocks: UserID(UUID()), at: TestTables.now)
                }
            }
        }
    }

    @Test("As many blocks are kept as may be, and none of them is refused again", arguments: StoreKind.shared)
    func blockLimit(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let others = [
                try await tables.newUser("eve"), try await tables.newUser("bob"), try await tables.newUser("al"),
            ]
            let answers = try await tables.write { transaction in
                try (others + others).map {
                    try BlockRepository(transaction).insert(tables.user, blocks: $0, at: TestTables.now, limit: 2)
                }
            }
            #expect(answers == [true, true, false, true, true, false])
            #expect(try await tables.count("blocks") == 2)
        }
    }
}
