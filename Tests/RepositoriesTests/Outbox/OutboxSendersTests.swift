import Database
import Domain
import Fixtures
import Foundation
import Testing

@testable import Repositories

/// Senders of several nodes, each with a transaction of its own at the same time: on the one engine that has such.
@Suite("Senders that lease at once")
struct OutboxSendersTests {
    private static func fill(_ tables: TestTables, _ kind: OutboxKind, _ count: Int) async throws {
        let messages = (0..<count).map { OutboxTableTests.message(tables, kind, due: -Double($0)) }
        try await tables.store.write { transaction in
            for message in messages { _ = try OutboxRepository(transaction).insert(message) }
        }
    }

    /// Leases as `DeliverOutbox` does.
    ///
    /// - Parameter begun: counts how often a body was begun.
    private static func lease(
        _ tables: TestTables, _ slots: [OutboxKind: Int], begun: Counter, held: HeldTransaction? = nil
    ) async throws -> [OutboxMessageID] {
        try await tables.store.maintain { transaction in
            begun.add()
            let leased = try OutboxClaims(transaction).lease(UUID().uuidString, slots, for: 30).map(\.id)
            held?.stand()
            return leased
        }
    }

    @Test("pass over each other's messages, and none waits for another's commit")
    func passing() async throws {
        try await TestTables.run(.postgresql) { tables in
            try await Self.fill(tables, .phoneCode, 6)
            let (held, begun) = (HeldTransaction(), Counter())
            async let first = Self.lease(tables, [.phoneCode: 2], begun: begun, held: held)
            await held.stands()
            // The first has not committed: whoever wanted its rows would stand here until it does.
            let second = try await Self.lease(tables, [.phoneCode: 2], begun: begun)
            let third = try await Self.lease(tables, [.phoneCode: 9], begun: begun)
            held.end()
            let all = try await first + second + third
            #expect(second.count == 2 && third.count == 2 && all.count == 6)
            #expect(Set(all).count == 6)
            #expect(begun.count == 3)
        }
    }

    @Test("take a thousand messages in as many transactions as there are leases, none twice and none begun again")
    func crowd() async throws {
        try await TestTables.run(.postgresql) { tables in
            try await Self.fill(tables, .phoneCode, 1000)
            let (begun, leases) = (Counter(), Counter())
            let all = try await withThrowingTaskGroup(of: [OutboxMessageID].self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        var mine: [OutboxMessageID] = []
                        for _ in 0..<1100 {
                            let some = try await Self.lease(tables, [.phoneCode: 1], begun: begun)
                            leases.add()
                            if some.isEmpty { break }
                            mine += some
                        }
                        return mine
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(all.count == 1000 && Set(all).count == 1000)
            // One more for each that found nothing.
            #expect(leases.count == 1008)
            #expect(begun.count == 1008)
        }
    }

    @Test("send no receiver more events at once than one sender alone would")
    func events() async throws {
        try await TestTables.run(.postgresql) { tables in
            try await Self.fill(tables, .providerEvent, 10)
            let (held, begun) = (HeldTransaction(), Counter())
            async let first = Self.lease(tables, [.providerEvent: 8], begun: begun, held: held)
            await held.stands()
            // It waits for its turn, and gives up before the first has committed.
            let second = try? await Self.lease(tables, [.providerEvent: 8], begun: begun)
            held.end()
            #expect(try await first.count == ReceiverBreaker.inFlight)
            #expect(second == nil)
            #expect(try await Self.lease(tables, [.providerEvent: 8], begun: begun) == [])
        }
    }

    @Test("of failures of one receiver at once each is counted")
    func failures() async throws {
        try await TestTables.run(.postgresql) { tables in
            let (provider, url) = (tables.provider, "https://receiver.example/")
            try await tables.store.write {
                try ProviderWebhookRepository($0).set(url, of: provider)
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        try await tables.store.maintain {
                            _ = try ProviderWebhookRepository($0).note(answered: false, by: url, of: provider)
                        }
                    }
                }
                try await group.waitForAll()
            }
            let failures = try await tables.read { try ProviderWebhookRepository($0).breaker(of: provider).failures }
            #expect(failures == 4)
        }
    }
}
