import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Tables outbox and identity_cards, what waits in them")
struct BacklogTests {
    private static func message(_ tables: TestTables, _ kind: OutboxKind, due: TimeInterval) -> OutboxMessage {
        OutboxMessage(
            id: OutboxMessageID(UUID()), kind: kind, owner: OutboxOwner(tables.provider), subject: "subject",
            userID: tables.user,
            deduplicationKey: UUID().uuidString, payload: [1], createdAt: TestTables.now,
            expiresAt: TestTables.now.addingTimeInterval(600), dueAt: TestTables.now.addingTimeInterval(due))
    }

    private static func card(_ tables: TestTables, _ status: CardStatus, age: TimeInterval)
        -> IdentityCardRepository.Entry
    {
        .init(
            id: IdentityCardID(UUID()), userID: tables.user, providerID: tables.provider, status: status,
            sealedFacts: [1], sealedInput: nil, checks: "[]", assurance: .barcode, documentIndex: .of("\(age)"),
            personIndex: .of("person \(age)"), submittedAt: TestTables.now.addingTimeInterval(-age), decidedAt: nil,
            decidedBy: nil)
    }

    @Test("What waits is counted by kind, since the first, and what has ended is not", arguments: StoreKind.shared)
    func counted(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let empty = try await tables.read { try BacklogRepository($0).review() }
            #expect(empty.count == 0 && empty.since == nil)
            try await tables.write { transaction in
                let records = OutboxRepository(transaction)
                for message in [
                    Self.message(tables, .phoneCode, due: -60), Self.message(tables, .phoneCode, due: 30),
                    Self.message(tables, .authorization, due: -5), Self.message(tables, .providerEvent, due: 0),
                ] { _ = try records.insert(message) }
                for card in [
                    Self.card(tables, .inReview, age: 5), Self.card(tables, .inReview, age: 90),
                    Self.card(tables, .verified, age: 900),
                ] { try IdentityCardRepository(transaction).insert(card) }
            }
            try await tables.sql("UPDATE outbox SET state = 'dead', ended_at = 1 WHERE kind = 'provider_event'")
            let (lines, cards) = try await tables.read {
                (try BacklogRepository($0).outbox(), try BacklogRepository($0).review())
            }
            #expect(lines.map(\.kind) == ["authorization_push", "phone_code"] && lines.map(\.count) == [1, 2])
            #expect(lines.map(\.since) == [-5, -60].map { TestTables.now.addingTimeInterval($0) })
            #expect(cards.count == 2 && cards.since == TestTables.now.addingTimeInterval(-90))
        }
    }
}
