import Fixtures
import Foundation
import Testing

@testable import Database

/// Writers who read and change the same rows take turns where they are in each other's way.
@Suite("Writers in turn")
struct TurnTests {
    private static let turn = Turn("things")
    private struct Taken: Error {}

    private static func run(
        _ kind: StoreKind, nodes: Int = 1, _ body: ([any Database]) async throws -> Void
    ) async throws {
        let migration = Migration(
            identifier: 1, name: "things",
            statements: [
                "CREATE TABLE things (id BIGINT NOT NULL PRIMARY KEY, amount BIGINT NOT NULL)",
                "INSERT INTO things (id, amount) VALUES (0, 0)",
            ])
        try await withStores(kind, count: nodes, migrations: [migration], body)
    }

    /// What becomes of bodies that come at once to several nodes, in their order.
    private static func outcomes<T: Sendable>(
        of bodies: [@Sendable (any Transaction) throws -> T], in stores: [any Database]
    ) async -> [Result<T, any Error>] {
        await withTaskGroup(of: (Int, Result<T, any Error>).self) { tasks in
            for (index, body) in bodies.enumerated() {
                tasks.addTask {
                    do {
                        return (index, .success(try await stores[index % stores.count].write(inTurn: turn, body)))
                    } catch {
                        return (index, .failure(error))
                    }
                }
            }
            var outcomes: [Int: Result<T, any Error>] = [:]
            for await (index, outcome) in tasks { outcomes[index] = outcome }
            return bodies.indices.compactMap { outcomes[$0] }
        }
    }

    @Sendable private static func spend(_ transaction: any Transaction) throws -> Bool {
        let amount = try transaction.first("SELECT amount FROM things WHERE id = 0")?.integer(0) ?? 0
        guard amount < 60 else { return false }
        try transaction.enqueue("UPDATE things SET amount = $1 WHERE id = 0", [.integer(amount + 1)])
        return true
    }

    private static func repetitions(_ stores: [any Database]) -> Int {
        stores.compactMap { ($0 as? PostgreSQLDatabase)?.repetitions }.reduce(0, +)
    }

    @Test("spend exactly what there is, and hardly take one another back", arguments: StoreKind.shared)
    func exact(kind: StoreKind) async throws {
        try await Self.run(kind, nodes: 2) { stores in
            // The first crowd learns that they meet.
            let first = await Self.outcomes(of: Array(repeating: Self.spend, count: 24), in: stores)
            #expect(try first.allSatisfy { try $0.get() })
            let before = Self.repetitions(stores)
            let then = await Self.outcomes(of: Array(repeating: Self.spend, count: 48), in: stores)
            #expect(try then.filter { try $0.get() }.count == 36)
            let sum = try await stores[0].read { try $0.first("SELECT amount FROM things")?.integer(0) }
            #expect(sum == 60)
            // A busy machine takes a turn away now and then.
            #expect(Self.repetitions(stores) - before <= 48 / 2)
        }
    }

    @Test("fail alone, and only those that are wrong", arguments: StoreKind.all)
    func neighbours(kind: StoreKind) async throws {
        try await Self.run(kind) { stores in
            if let store = stores.first as? PostgreSQLDatabase { store.turns.noteMeeting(about: Self.turn) }
            let bodies = (1...40).map { index -> @Sendable (any Transaction) throws -> Int in
                { transaction in
                    let sql = "INSERT INTO things (id, amount) VALUES ($1, $2)"
                    switch index % 10 {
                    case 3:
                        try transaction.execute(sql, [Value(index), .integer(1)])
                        throw Taken()
                    // The mistake is known when it is carried out: with the end of the body.
                    case 5: try transaction.enqueue(sql, [.integer(0), .integer(1)])
                    case 7: _ = try? transaction.execute(sql, [.integer(0), .integer(1)])
                    case 9: throw Taken()
                    default: try transaction.enqueue(sql, [Value(index), .integer(1)])
                    }
                    return index
                }
            }
            for (index, outcome) in await Self.outcomes(of: bodies, in: stores).enumerated() {
                switch ((index + 1) % 10, outcome) {
                case (3, .failure(let error)), (9, .failure(let error)): #expect(error is Taken)
                case (5, .failure(let error)), (7, .failure(let error)):
                    #expect(error as? StoreError == .constraint(kind: .unique))
                case (_, .success(let value)): #expect(value == index + 1)
                case (_, .failure(let error)): Issue.record("\(index): \(error)")
                }
            }
            let count = try await stores[0].read { try $0.first("SELECT COUNT(*) FROM things")?.integer(0) }
            // The one of before, and 24 of 40.
            #expect(count == Int64(25))
        }
    }

    @Test("wait for the server no more often than others")
    func waits() async throws {
        try await Self.run(.postgresql) { stores in
            let store = try #require(stores[0] as? PostgreSQLDatabase)
            let before = store.exchanges
            _ = try await store.write(inTurn: Self.turn, Self.spend)
            #expect(store.exchanges - before == 2)
            store.turns.noteMeeting(about: Self.turn)
            let again = store.exchanges
            _ = try await store.write(inTurn: Self.turn, Self.spend)
            #expect(store.exchanges - again == 2)
        }
    }

    @Test("do not wait for one that stands still while it has the turn")
    func frozen() async throws {
        try await Self.run(.postgresql, nodes: 2) { stores in
            let held = HeldTransaction()
            for store in stores { (store as? PostgreSQLDatabase)?.turns.noteMeeting(about: Self.turn) }
            let other = stores[1]
            async let standing = other.write(inTurn: Self.turn) { transaction in
                _ = try transaction.first("SELECT 1")
                held.stand()
                return true
            }
            await held.stands()
            let isSpent = try await stores[0].write(inTurn: Self.turn, Self.spend)
            #expect(isSpent)
            held.end()
            #expect(try await standing)
        }
    }

    @Test("make common writes once in a transaction, without those of a body that failed")
    func once() async throws {
        try await Self.run(.postgresql) { stores in
            let (store, held) = (try #require(stores[0] as? PostgreSQLDatabase), HeldTransaction())
            store.turns.noteMeeting(about: Self.turn)
            async let standing = store.write(inTurn: Self.turn) { transaction in
                _ = try transaction.first("SELECT 1")
                held.stand()
                return true
            }
            await held.stands()
            let bodies = [true, false, false, true, false].map { fails -> @Sendable (any Transaction) throws -> Void in
                { transaction in
                    try transaction.once([.text("amount")]) {
                        try transaction.enqueue("UPDATE things SET amount = amount + 1 WHERE id = 0", [])
                    }
                    if fails { throw Taken() }
                }
            }
            async let outcomes = Self.outcomes(of: bodies, in: stores)
            for _ in 0..<12000 where store.turns.waiting(for: Self.turn) < bodies.count {
                try await Task.sleep(for: .milliseconds(10))
            }
            held.end()
            #expect(try await standing)
            #expect(await outcomes.filter { (try? $0.get()) == nil }.count == 2)
            let sum = try await store.read { try $0.first("SELECT amount FROM things")?.integer(0) }
            #expect(sum == 1)
        }
    }

    @Test("find a closed store", arguments: StoreKind.all)
    func closed(kind: StoreKind) async throws {
        try await Self.run(kind) { stores in
            try await stores[0].close()
            await #expect(throws: StoreError.closed) { try await stores[0].write(inTurn: Self.turn, Self.spend) }
        }
    }
}
