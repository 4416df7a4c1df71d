import Database
import Domain
import Encoding
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

    @Test(
        "A block that names an authorization is listed by it, and ended by it or by the user's id",
        arguments: StoreKind.shared)
    func requesters(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (eve, bob) = (try await tables.newUser("eve"), try await tables.newUser("bob"))
            let request = MessagingPermission(
                id: AuthorizationID(UUID()), providerID: tables.provider, requesterID: bob, recipientID: tables.user,
                target: .of("target"), isDelivered: true, state: .request, createdAt: TestTables.now,
                expiresAt: TestTables.now, changedAt: TestTables.now, sealedTo: nil, sealedEvent: nil)
            let unknown = AuthorizationID(UUID())
            func listed() async throws -> ([UserID], [AuthorizationID]) {
                try await tables.read {
                    let records = BlockRepository($0)
                    return (try records.list(of: tables.user), try records.listAuthorizations(of: tables.user))
                }
            }
            try await tables.write { transaction in
                _ = try AuthorizationRepository(transaction).insert(request)
                let records = BlockRepository(transaction)
                for name in [unknown, nil] {
                    _ = try records.insert(tables.user, blocks: eve, namedBy: name, at: TestTables.now)
                }
                for name in [nil, request.id] {
                    _ = try records.insert(tables.user, blocks: bob, namedBy: name, at: TestTables.now)
                }
            }
            #expect(try await listed() == ([bob], [unknown]))
            try await tables.write { transaction in
                let records = BlockRepository(transaction)
                try records.delete(eve, blocksRequesterOf: request.id)
                try records.delete(tables.user, blocksRequesterOf: AuthorizationID(UUID()))
            }
            #expect(try await tables.count("blocks") == 2)
            for name in [unknown, request.id] {
                try await tables.write { try BlockRepository($0).delete(tables.user, blocksRequesterOf: name) }
            }
            #expect(try await tables.count("blocks") == 0)
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
