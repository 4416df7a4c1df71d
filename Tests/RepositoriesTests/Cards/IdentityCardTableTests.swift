import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Table identity_cards")
struct IdentityCardTableTests {
    private static func card(
        _ tables: TestTables, of user: UserID? = nil, _ status: CardStatus = .inReview, document: String = "document",
        age: TimeInterval = 0
    ) -> IdentityCardRepository.Entry {
        let at = TestTables.now.addingTimeInterval(-age)
        return .init(
            id: IdentityCardID(UUID()), userID: user ?? tables.user, providerID: tables.provider, status: status,
            sealedFacts: [1], sealedInput: status == .inReview ? [2] : nil, checks: "[]", assurance: .barcode,
            documentIndex: .of(document), personIndex: .of("person \(document)"), submittedAt: at,
            decidedAt: status == .inReview ? nil : at, decidedBy: nil)
    }

    @Test("A card is read as it was written, and decided once", arguments: StoreKind.shared)
    func deciding(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (waiting, verified) = (Self.card(tables), Self.card(tables, .verified, age: 60))
            let answers = try await tables.write { transaction in
                let records = IdentityCardRepository(transaction)
                for card in [waiting, verified] { try records.insert(card) }
                let found = try records.find(waiting.id)
                let queue = try records.listInReview(limit: 5).map(\.id)
                let decided = try [1, 2].map { _ in
                    try records.decide(
                        waiting.id, .rejected, by: "admin x", sealedReason: [3], at: TestTables.now)
                }
                return (found, queue, decided, try records.sealedReason(waiting.id), try records.find(waiting.id))
            }
            #expect(answers.0?.checks == "[]")
            #expect(answers.0?.sealedInput == [2])
            #expect(answers.0?.documentIndex == .of("document"))
            #expect(answers.0?.personIndex == .of("person document"))
            #expect(answers.0?.submittedAt == TestTables.now)
            #expect(answers.1 == [waiting.id])
            #expect(answers.2 == [true, false])
            #expect(answers.3 == [3])
            #expect(answers.4?.status == .rejected)
            #expect(answers.4?.decidedBy == "admin x")
            #expect(answers.4?.sealedInput == nil)
            let (listed, last, reason) = try await tables.read {
                let records = IdentityCardRepository($0)
                return try (
                    records.list(of: tables.user).map(\.id),
                    records.lastVerified(of: tables.user, before: waiting.id)?.id,
                    records.sealedReason(verified.id)
                )
            }
            #expect(listed == [waiting.id, verified.id])
            #expect(last == verified.id)
            #expect(reason == nil)
        }
    }

    @Test("A decision waits for its time, takes effect once, and can be removed before", arguments: StoreKind.shared)
    func later(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (first, second) = (Self.card(tables, age: 60), Self.card(tables))
            let found = try await tables.write { transaction in
                let (records, now) = (IdentityCardRepository(transaction), TestTables.now)
                func decide(_ card: IdentityCardRepository.Entry, _ status: CardStatus, at time: Date) throws -> Bool {
                    try records.decide(card.id, status, by: "admin x", sealedReason: [3], effectiveAt: time)
                }
                for card in [first, second] { try records.insert(card) }
                let decided = [
                    try decide(first, .verified, at: now), try decide(second, .rejected, at: now + 1),
                    try decide(second, .verified, at: now),
                    try records.decide(second.id, .verified, by: "admin y", sealedReason: [4], at: now),
                ]
                let due = try records.listDue(limit: 5)
                let removed = [try records.removeDecision(second.id), try records.removeDecision(second.id)]
                let applied = [try records.applyDecision(first.id), try records.applyDecision(first.id)]
                return (decided, due, removed, applied, try records.listInReview(limit: 5).map(\.id))
            }
            #expect(found.0 == [true, true, false, false] && found.1 == [first.id])
            #expect(found.2 == [true, false] && found.3 == [true, false] && found.4 == [second.id])
            let (card, pending, reason) = try await tables.read {
                let records = IdentityCardRepository($0)
                return try (
                    records.find(first.id), records.pendingDecision(first.id), records.sealedReason(second.id)
                )
            }
            #expect(card?.status == .verified && card?.decidedAt == TestTables.now && card?.sealedInput == nil)
            #expect(pending == nil && reason == nil)
            for wrong in ["pending_status = 'verified'", "effective_at = 1", "pending_status = 'x', effective_at = 1"] {
                await #expect(throws: StoreError.constraint(kind: .check)) {
                    try await tables.sql("UPDATE identity_cards SET \(wrong)")
                }
            }
        }
    }

    @Test("Others with the same document or person are found, the rejected left out", arguments: StoreKind.shared)
    func others(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (eve, bob) = (try await tables.newUser("eve"), try await tables.newUser("bob"))
            try await tables.write { transaction in
                let records = IdentityCardRepository(transaction)
                for card in [
                    Self.card(tables), Self.card(tables, of: eve, .verified), Self.card(tables, of: bob, .rejected),
                ] { try records.insert(card) }
            }
            let (others, holders) = try await tables.read {
                let records = IdentityCardRepository($0)
                return try (
                    records.others(
                        than: tables.user, of: tables.provider, documents: [.of("document"), .of("document")],
                        persons: [.of("person document"), .of("x")]),
                    records.holders(ofDocument: [.of("document"), .of("x")])
                )
            }
            #expect(others.sameDocument == [eve])
            #expect(others.samePerson == [eve])
            #expect(holders == [eve])
        }
    }

    @Test("What a device sent is dropped by age, and cards go with their user", arguments: StoreKind.shared)
    func purge(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (old, young) = (Self.card(tables, age: 60), Self.card(tables))
            try await tables.write { transaction in
                let records = IdentityCardRepository(transaction)
                for card in [old, young] { try records.insert(card) }
                try records.dropInput(before: TestTables.now)
                try records.replaceFacts(old.id, sealed: [9])
            }
            let found = try await tables.read {
                (try IdentityCardRepository($0).find(old.id), try IdentityCardRepository($0).find(young.id))
            }
            #expect(found.0?.sealedInput == nil)
            #expect(found.0?.sealedFacts == [9])
            #expect(found.1?.sealedInput == [2])
            await #expect(throws: StoreError.constraint(kind: .check)) {
                try await tables.sql("UPDATE identity_cards SET status = 'verified'")
            }
            try await tables.sql("UPDATE identity_cards SET assurance = 'boundless'")
            await #expect(throws: DamagedRow.self) {
                try await tables.read { try IdentityCardRepository($0).find(old.id) }
            }
            try await tables.write { try IdentityCardRepository($0).erase(tables.user) }
            #expect(try await tables.count("identity_cards") == 0)
        }
    }
}
