import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Tables outbox and outbox_turns")
struct OutboxTableTests {
    static func message(
        _ tables: TestTables, _ kind: OutboxKind = .phoneCode, key: String = UUID().uuidString,
        due: TimeInterval = 0, lasts: TimeInterval = 600, of owner: ProviderID? = nil
    ) -> OutboxMessage {
        OutboxMessage(
            id: OutboxMessageID(UUID()), kind: kind, owner: OutboxOwner(owner ?? tables.provider),
            subject: kind == .providerEvent ? tables.provider.description : "subject", userID: tables.user,
            deduplicationKey: key, payload: [1], createdAt: TestTables.now,
            expiresAt: TestTables.now.addingTimeInterval(lasts), dueAt: TestTables.now.addingTimeInterval(due))
    }

    @Test("A message is read as it was written, and the same one is written once", arguments: StoreKind.shared)
    func reading(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (message, twin) = (Self.message(tables, key: "a"), Self.message(tables, key: "a"))
            let answers = try await tables.write {
                (try OutboxRepository($0).insert(message), try OutboxRepository($0).insert(twin))
            }
            #expect(answers == (true, false))
            let (found, none, waiting, dead) = try await tables.read {
                let records = OutboxRepository($0)
                return try (
                    records.find(message.id), records.find(twin.id), records.list(.waiting, limit: 5),
                    records.list(.dead, limit: 5)
                )
            }
            #expect(found == message)
            #expect(none == nil)
            #expect(waiting == [message])
            #expect(dead.isEmpty)
        }
    }

    @Test(
        "What is due is leased once, as many of a kind as asked, and settled under its lease",
        arguments: StoreKind.shared)
    func leasing(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let due = (0..<3).map { Self.message(tables, due: Double(-$0)) }
            let (later, over, event) = (
                Self.message(tables, due: 60), Self.message(tables, lasts: -1), Self.message(tables, .providerEvent)
            )
            let (first, second, next) = try await tables.write { transaction in
                let records = OutboxRepository(transaction)
                for message in due + [later, over, event] { _ = try records.insert(message) }
                return (
                    try OutboxClaims(transaction).lease("one", [.phoneCode: 2, .providerEvent: 2], for: 30),
                    try OutboxClaims(transaction).lease("two", [.phoneCode: 2, .providerEvent: 2], for: 30),
                    try OutboxClaims(transaction).nextDue(OutboxKind.allCases)
                )
            }
            #expect(Set(first.map(\.id)) == [due[2].id, due[1].id, event.id])
            #expect(first.allSatisfy { $0.tries == 1 })
            #expect(second.map(\.id) == [due[0].id])
            #expect(next == TestTables.now.addingTimeInterval(30))
            let settled = try await tables.write { transaction in
                let records = OutboxRepository(transaction)
                let sent = first[0].after(.sent, now: TestTables.now, rule: .outbox)
                return try [
                    records.settle(sent, lease: "two"), records.settle(sent, lease: "one"),
                    records.settle(sent, lease: "one"),
                ]
            }
            #expect(settled == [false, true, false])
            let (sent, expired) = try await tables.read {
                (try OutboxRepository($0).find(first[0].id), try OutboxRepository($0).find(over.id))
            }
            #expect(sent?.state == .sent && sent?.payload == [])
            #expect(expired?.state == .expired && expired?.payload == [])
        }
    }

    @Test("A message begins anew, is dropped, purged and erased", arguments: StoreKind.shared)
    func ending(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let messages = (0..<3).map { _ in Self.message(tables) }
            try await tables.write { transaction in
                let records = OutboxRepository(transaction)
                for message in messages { _ = try records.insert(message) }
                _ = try OutboxClaims(transaction).lease("one", [.phoneCode: 3], for: 30)
                try records.restart(messages[0].id)
                try records.drop(messages[1].id)
            }
            let (first, second) = try await tables.read {
                (try OutboxRepository($0).find(messages[0].id), try OutboxRepository($0).find(messages[1].id))
            }
            #expect(first?.tries == 0 && first?.state == .waiting)
            #expect(second?.state == .dropped && second?.payload == [])
            try await tables.write { try OutboxRepository($0).purge(endedBefore: TestTables.now.addingTimeInterval(1)) }
            #expect(try await tables.count("outbox") == 2)
            await #expect(throws: StoreError.constraint(kind: .check)) {
                try await tables.sql("UPDATE outbox SET ended_at = 1")
            }
            try await tables.sql("UPDATE outbox SET state = 'lost', ended_at = 1")
            await #expect(throws: DamagedRow.self) {
                try await tables.read { try OutboxRepository($0).find(messages[0].id) }
            }
            try await tables.write { _ = try OutboxRepository($0).erase(tables.user, at: nil, limit: 1) }
            #expect(try await tables.count("outbox") == 1)
            let event = Self.message(tables, .providerEvent)
            try await tables.write { transaction in
                let records = OutboxRepository(transaction)
                try records.enqueueInsert(event)
                // An event of the time of the erasure reports it.
                #expect(try records.erase(tables.user, at: TestTables.now, limit: 9) == 1)
                #expect(try records.erase(tables.user, at: TestTables.now, limit: 9) == 0)
                #expect(try records.erase(tables.user, at: TestTables.now.addingTimeInterval(1), limit: 9) == 1)
            }
            #expect(try await tables.count("outbox") == 0)
        }
    }
}
