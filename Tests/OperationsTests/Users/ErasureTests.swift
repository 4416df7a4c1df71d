import Crypto
import Database
import Domain
import Fixtures
import Foundation
import Operations
import Testing

@testable import Repositories

@Suite("Erasing a person")
struct ErasureTests {
    @Test("After DELETE /me nothing that was sealed opens, with whatever keys, and no copy of the data key is left")
    func shredding() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            let person = try await bench.withPhone("alice", "+14155552671")
            let bystander = try await bench.withPhone("bob", "+14155552672")
            let card = try await bench.show(try .virginia, person)
            #expect(card.status == .verified)
            let user = person.session.userID
            // The data key was wrapped anew meanwhile: the operator has both versions of the wrapping key.
            let older = try #require(try await Self.wrapped(user, in: fixture.store))
            let wrappingKeys = [try fixture.personalKeys.wrappingKey(1), SymmetricKey(size: .bits256)]
            let both = try PersonalKeys(
                wrapping: [1: wrappingKeys[0], 2: wrappingKeys[1]], index: [1: SymmetricKey(size: .bits256)])
            let dataKey = try await fixture.store.read {
                try DataKeyRepository($0, keys: fixture.personalKeys).find(user)
            }
            let key = try #require(dataKey)
            let name = try #require(try await Self.column("full_name", of: user, in: fixture.store))
            #expect(try Self.open(name, under: key, of: user) == "MICHAEL JOHN SAMPLE JR")
            _ = try await fixture.store.write { try DataKeyRepository($0, keys: both).rewrap(after: nil, limit: 10) }
            let newer = try #require(try await Self.wrapped(user, in: fixture.store))
            #expect(newer != older)

            _ = try await bench.fixture.context.erasePersonalData(for: person.session)

            for table in [
                "authenticated_users", "identity_cards", "phone_verifications", "phone_failures", "outbox",
            ] {
                let rows = try await fixture.store.read {
                    try $0.query("SELECT 1 FROM \(table) WHERE user_id = $1", [.text(user.description)]).count
                }
                #expect(rows == 0, "\(table)")
            }
            let left = try await bench.sealedValues()
            #expect(!left.contains { [older, newer, name].contains($0.bytes) })
            for (table, bytes) in left {
                for (index, wrappingKey) in wrappingKeys.enumerated() {
                    #expect(
                        throws: SealingFailure.notAuthentic, "\(table)",
                        performing: {
                            try DataKey(
                                wrapped: bytes, under: wrappingKey, version: index + 1, row: user.description)
                        })
                }
                #expect((try? Self.open(bytes, under: key, of: user)) == nil, "\(table)")
            }
            let found = try await fixture.store.read { transaction in
                (
                    try DataKeyRepository(transaction, keys: both).find(user) == nil,
                    try UserRepository(transaction).find(user)?.assurance,
                    try AuthenticatedUserRepository(transaction, keys: both).find(bystander.session.userID)?
                        .phoneNumber
                )
            }
            #expect(found.0 && found.1 == Assurance.none && found.2 == "+14155552672")
        }
    }

    @Test("Who comes back after an erasure begins with nothing, under a new key")
    func comingBack() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            let person = try await bench.withPhone("alice", "+14155552671")
            _ = try await bench.show(try .virginia, person)
            let name = try #require(try await Self.column("full_name", of: person.session.userID, in: fixture.store))
            _ = try await bench.fixture.context.erasePersonalData(for: person.session)
            let again = try await bench.withPhone("alice", "+14155552671")
            #expect(again.session.userID == person.session.userID)
            let own = try await bench.fixture.context.readProfile(again.session)
            #expect(own.user.assurance == .phone && own.proved?.fullName == nil)
            let key = try await fixture.store.read {
                try DataKeyRepository($0, keys: fixture.personalKeys).find(again.session.userID)
            }
            #expect(throws: SealingFailure.notAuthentic) {
                try Self.open(name, under: try #require(key), of: again.session.userID)
            }
        }
    }

    @Test("What was scanned is kept while a card is in review, and gone at the decision or after a day")
    func rawInput() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try CardBench(fixture)
            let first = try await bench.withPhone("alice", "+14155552671")
            let accepted = try await bench.show(try .virginia, first)
            #expect(try await Self.input(accepted.id, in: fixture.store) == nil)
            let second = try await bench.withPhone("bob", "+14155552672")
            let decided = try await bench.show(try .virginia, second)
            let waiting = try await bench.show(try .virginia, second)
            #expect(decided.status == .inReview && waiting.status == .inReview)
            #expect(try await Self.input(decided.id, in: fixture.store) != nil)
            try await bench.admin.rejectCard(decided.id, reason: "another person's")
            #expect(try await Self.input(decided.id, in: fixture.store) == nil)
            fixture.clock.advance(86_400)
            try await fixture.housekeeping()
            #expect(try await Self.input(waiting.id, in: fixture.store) != nil)
            fixture.clock.advance(60)
            try await fixture.housekeeping()
            #expect(try await Self.input(waiting.id, in: fixture.store) == nil)
            // What was read of it is still there to be judged.
            #expect(try await bench.admin.readCardInReview(waiting.id).facts?.documentNumber == "T64225789")
        }
    }

    private static func column(_ name: String, of user: UserID, in store: any Database) async throws -> [UInt8]? {
        try await store.read {
            try $0.first("SELECT \(name) FROM authenticated_users WHERE user_id = $1", [.text(user.description)])?
                .bytesOrNull(0)
        }
    }

    private static func wrapped(_ user: UserID, in store: any Database) async throws -> [UInt8]? {
        try await store.read {
            try $0.first("SELECT wrapped FROM data_keys WHERE user_id = $1", [.text(user.description)])?.bytesOrNull(0)
        }
    }

    private static func input(_ card: IdentityCardID, in store: any Database) async throws -> [UInt8]? {
        try await store.read { try IdentityCardRepository($0).find(card)?.sealedInput }
    }

    private static func open(_ sealed: [UInt8], under key: DataKey, of user: UserID) throws -> String {
        try key.open(sealed, in: .fullName, of: user)
    }
}
