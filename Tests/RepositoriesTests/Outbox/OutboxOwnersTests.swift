import Database
import Domain
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Owners of messages in the outbox")
struct OutboxOwnersTests {
    private typealias Turns = [OutboxKind: OutboxTurns]

    private static func insert(
        _ tables: TestTables, _ kind: OutboxKind, of owner: ProviderID, _ count: Int, due: TimeInterval = 0
    ) async throws -> Set<OutboxMessageID> {
        let messages = (0..<count).map {
            OutboxTableTests.message(tables, kind, due: due - Double($0) / 1000, of: owner)
        }
        try await tables.store.write { transaction in
            for message in messages { try OutboxRepository(transaction).enqueueInsert(message) }
        }
        return Set(messages.map(\.id))
    }

    private static func lease(
        _ tables: TestTables, _ slots: [OutboxKind: Int], looking: Set<OutboxKind> = [], _ turns: Turns = [:]
    ) async throws -> (ids: Set<OutboxMessageID>, turns: Turns) {
        try await tables.write { transaction in
            var turns = turns
            let leased = try OutboxClaims(transaction).lease(
                UUID().uuidString, slots, for: 30, looking: looking, &turns)
            return (Set(leased.map(\.id)), turns)
        }
    }

    private static let kinds = OutboxKind.allCases.filter { $0.share == .turns }

    @Test(
        "have a message in the first round, whatever others have, of each kind that takes turns",
        arguments: StoreKind.shared)
    func turns(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let other = ProviderID(UUID())
            for (place, kind) in Self.kinds.enumerated() {
                let many = try await Self.insert(tables, kind, of: tables.provider, place == 0 ? 1000 : 20, due: -60)
                let one = try await Self.insert(tables, kind, of: other, 1)
                let first = try await Self.lease(tables, [kind: 8])
                #expect(first.ids.count == 8 && first.ids.isSuperset(of: one), "\(kind)")
                let next = try await Self.lease(tables, [kind: 8], first.turns)
                #expect(next.ids.count == 8 && next.ids.isSubset(of: many), "\(kind)")
            }
        }
    }

    @Test("are seen as soon as they have something, while another's backlog lasts", arguments: StoreKind.shared)
    func arrival(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let slots = [OutboxKind.notificationPush: 1]
            _ = try await Self.insert(tables, .notificationPush, of: tables.provider, 100, due: -60)
            var known = try await Self.lease(tables, slots).turns
            let one = try await Self.insert(tables, .notificationPush, of: ProviderID(UUID()), 1)
            // It comes behind the one whose turn it is.
            for place in 0..<2 {
                let next = try await Self.lease(tables, slots, looking: [.notificationPush], known)
                #expect(next.ids.count == 1 && (next.ids == one) == (place == 1))
                known = next.turns
            }
        }
    }

    @Test(
        "are looked for from the last look on: what lies before it is found by a look at everything",
        arguments: StoreKind.shared)
    func cursor(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let slots = [OutboxKind.message: 8, .providerEvent: 8]
            let none = try await Self.lease(tables, slots)
            #expect(none.ids.isEmpty)
            let late = try await Self.insert(tables, .message, of: tables.provider, 1, due: -60)
                .union(Self.insert(tables, .providerEvent, of: tables.provider, 1, due: -60))
            let again = try await Self.lease(tables, slots, looking: [.message, .providerEvent], none.turns)
            #expect(again.ids.isEmpty)
            #expect(try await Self.lease(tables, slots).ids == late)
        }
    }

    @Test("get back what a process that died had leased", arguments: StoreKind.shared)
    func freed(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let slots = [OutboxKind.message: 8, .providerEvent: 8]
            let known = try await Self.lease(tables, slots).turns
            let ids = try await Self.insert(tables, .message, of: tables.provider, 1, due: -60)
                .union(Self.insert(tables, .providerEvent, of: tables.provider, 1, due: -60))
            try await tables.sql(
                "UPDATE outbox SET lease = 'dead', leased_until = $1", [.time(TestTables.now.addingTimeInterval(-1))])
            #expect(try await Self.lease(tables, slots, looking: [.message, .providerEvent], known).ids == ids)
        }
    }

    @Test("with sixty receivers have two events under way, and all events in the end", arguments: StoreKind.shared)
    func receivers(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let streams = (0..<60).map { number in
                EventStream(
                    id: EventStreamID(UUID()), provider: tables.provider,
                    settings: EventStream.Settings(delivery: .push("https://receiver-\(number).example/")),
                    createdAt: TestTables.now, approvedURL: "https://receiver-\(number).example/")
            }
            try await tables.write { [user = tables.user] transaction in
                let records = EventStreamRepository(transaction)
                for stream in streams {
                    try records.save(stream)
                    try records.enqueue(
                        OutboxMessageID(UUID()), .happened(.accountDisabled), of: user, in: .init(stream), cause: "x")
                }
            }
            var known: Turns = [:]
            for round in 0..<30 {
                let next = try await Self.lease(tables, [.providerEvent: 8], known)
                #expect(next.ids.count == 2, "\(round)")
                #expect(try await Self.lease(tables, [.providerEvent: 8], next.turns).ids.isEmpty)
                known = next.turns
                try await tables.sql(
                    """
                    UPDATE outbox SET state = 'sent', ended_at = 1, lease = NULL, leased_until = NULL
                    WHERE lease IS NOT NULL
                    """)
            }
            #expect(try await Self.lease(tables, [.providerEvent: 8], known).ids.isEmpty)
        }
    }
}
