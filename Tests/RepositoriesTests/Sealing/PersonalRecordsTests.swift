import Crypto
import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Synchronization
import Testing

@testable import Repositories

@Suite("Records of persons")
struct PersonalRecordsTests {
    private static let number = "+14155552671"

    @Test("A person's row holds nothing in clear, and opens as it was written")
    func row() async throws {
        try await SealedStore.run { sealed in
            let user = try await sealed.user("ada")
            let facts = try SealedStore.facts()
            try await sealed.prove(user, Self.number, facts)
            let found = try #require(try await sealed.find(user.id))
            #expect(found.phoneNumber == Self.number)
            #expect(found.fullName == "Ada Canary")
            #expect(found.documentNumber == "T64235789")
            #expect(found.postalAddress == facts.address?.line)
            #expect(found.jurisdiction == "USA-VA")
            let stored = try await sealed.store.read { transaction in
                try transaction.query("SELECT * FROM authenticated_users").flatMap(\.values)
            }
            let bytes = stored.flatMap { value -> [UInt8] in
                if case .bytes(let bytes) = value { bytes } else { Array("\(value)".utf8) }
            }
            for canary in ["4155552671", "Canary", "T64235789", "Broad", "1986-06-06"] {
                #expect(Data(bytes).firstRange(of: Data(canary.utf8)) == nil, "\(canary)")
            }
        }
    }

    @Test("A column that is moved to another person or another column does not open")
    func movedColumns() async throws {
        try await SealedStore.run { sealed in
            let (ada, eve) = (try await sealed.user("ada"), try await sealed.user("eve"))
            try await sealed.prove(ada, Self.number, try SealedStore.facts())
            try await sealed.prove(eve, "+14155552672", try SealedStore.facts("Eve Canary", number: "T64235780"))
            try await sealed.store.write { transaction in
                try transaction.execute(
                    """
                    UPDATE authenticated_users SET full_name =
                        (SELECT full_name FROM authenticated_users WHERE user_id = $2) WHERE user_id = $1
                    """, [.id(eve.id), .id(ada.id)])
            }
            await #expect(throws: SealingFailure.notAuthentic) { try await sealed.find(eve.id) }
            try await sealed.store.write { transaction in
                try transaction.execute(
                    "UPDATE authenticated_users SET full_name = jurisdiction WHERE user_id = $1", [.id(ada.id)])
            }
            await #expect(throws: SealingFailure.notAuthentic) { try await sealed.find(ada.id) }
        }
    }

    @Test("A data key that is put in another user's place does not open there")
    func movedKey() async throws {
        try await SealedStore.run { sealed in
            let (ada, eve) = (try await sealed.user("ada"), try await sealed.user("eve"))
            for user in [ada, eve] { _ = try await sealed.dataKey(user.id) }
            try await sealed.store.write { transaction in
                try transaction.execute(
                    """
                    UPDATE data_keys SET wrapped = (SELECT wrapped FROM data_keys WHERE user_id = $2)
                    WHERE user_id = $1
                    """, [.id(eve.id), .id(ada.id)])
            }
            await #expect(throws: SealingFailure.notAuthentic) { try await sealed.dataKey(eve.id) }
        }
    }

    @Test("Who is erased cannot be read any more, and a key made later opens nothing of before")
    func erasure() async throws {
        try await SealedStore.run { sealed in
            let user = try await sealed.user("ada")
            try await sealed.prove(user, Self.number, try SealedStore.facts())
            let before = try await sealed.sealedName(of: user.id)
            let keys = sealed.keys
            let isErased = try await sealed.store.write {
                try DataKeyRepository($0, keys: keys).erase(user.id, at: SealedStore.now)
            }
            #expect(isErased)
            #expect(try await sealed.find(user.id) == nil)
            let erased = try await sealed.store.read { transaction in
                let records = DataKeyRepository(transaction, keys: keys)
                return (try records.find(user.id) == nil, try records.erasedAt(user.id))
            }
            #expect(erased.0 && erased.1 == SealedStore.now)
            let repeated = try await sealed.store.write {
                try DataKeyRepository($0, keys: keys).erase(user.id, at: SealedStore.now)
            }
            #expect(!repeated)
            let newKey = try await sealed.dataKey(user.id)
            #expect(throws: SealingFailure.notAuthentic) {
                try newKey.open(before, in: .fullName, of: user.id)
            }
        }
    }

    @Test("A number under an older version of the index key is found, and its proof by another suspends its holder")
    func olderIndex() async throws {
        try await SealedStore.run { sealed in
            let (ada, eve) = (try await sealed.user("ada"), try await sealed.user("eve"))
            try await sealed.prove(ada, Self.number, try SealedStore.facts())
            let newer = try SealedStore.keys(index: [1, 2])
            let losers = try await sealed.store.write { transaction in
                let records = AuthenticatedUserRepository(transaction, keys: newer)
                #expect(try records.isHolder(ada.id, ofNumber: newer.phoneIndexes(Self.number)))
                return try records.phoneProven(eve, Self.number, at: SealedStore.now).losers
            }
            #expect(losers == [ada.id])
            let index = newer.phoneIndex(Self.number)
            let holders = try await sealed.store.read { transaction in
                try transaction.query(
                    "SELECT user_id FROM authenticated_users WHERE phone_index = $1 AND suspended IS NULL",
                    [.bytes(index.bytes)]
                ).map { try $0.text(0) }
            }
            #expect(holders == [eve.id.description])
        }
    }

    @Test("Data keys are wrapped anew in batches, and open under the new version alone")
    func rewrapping() async throws {
        try await SealedStore.run { sealed in
            var users: [User] = []
            for index in 0..<7 {
                let user = try await sealed.user("user \(index)")
                try await sealed.prove(user, "+1415555267\(index)", try SealedStore.facts())
                users.append(user)
            }
            let (first, last) = (users[0].id, users[6].id)
            try await sealed.store.write { [sealed] transaction in
                try DataKeyRepository(transaction, keys: sealed.keys).erase(last, at: SealedStore.now)
                try transaction.execute(
                    "UPDATE data_keys SET wrapped = $2 WHERE user_id = $1", [.id(first), .bytes([1, 2, 3])])
            }
            let both = try SealedStore.keys(wrapping: [1, 5])
            var (wrapped, unreadable, rounds) = (0, 0, 0)
            var mark: DataKeyRepository.Mark?
            repeat {
                let from = mark
                let step = try await sealed.store.write {
                    try DataKeyRepository($0, keys: both).rewrap(after: from, limit: 2)
                }
                (wrapped, unreadable, rounds) = (wrapped + step.wrapped, unreadable + step.unreadable, rounds + 1)
                mark = step.mark
                // In between everything opens under both.
                for user in users[1...5] { _ = try await sealed.find(user.id, keys: both) }
            } while mark != nil && rounds < 10
            #expect((wrapped, unreadable, rounds) == (5, 1, 4))
            let counts = try await sealed.store.read { try DataKeyRepository($0, keys: both).countByVersion() }
            #expect(counts == [1: 1, 5: 5])
            let newest = try SealedStore.keys(wrapping: [5])
            for user in users[1...5] {
                #expect(try await sealed.find(user.id, keys: newest)?.fullName == "Ada Canary")
            }
            await #expect(throws: SealingFailure.unknownVersion(1)) { try await sealed.find(first, keys: newest) }
        }
    }

    @Test("A node that meets a newer version reads its keys again, and makes no data key under an older one")
    func newerVersion() async throws {
        try await SealedStore.run { sealed in
            let (ada, eve) = (try await sealed.user("ada"), try await sealed.user("eve"))
            _ = try await sealed.dataKey(ada.id)
            let (wrapping, index) = ([1: SealedStore.key(1)], [1: SealedStore.key(101)])
            let isOnDisk = Mutex(false)
            let node = PersonalKeys(try PersonalKeys.Versions(wrapping: wrapping, index: index)) {
                let isThere = isOnDisk.withLock { $0 }
                let more = isThere ? [2: SealedStore.key(2)] : [:]
                return try PersonalKeys.Versions(wrapping: wrapping.merging(more) { first, _ in first }, index: index)
            }
            let both = try SealedStore.keys(wrapping: [1, 2])
            let isNew = try await sealed.store.write { transaction in
                let records = DataKeyRepository(transaction, keys: both)
                _ = try records.rewrap(after: nil, limit: 10)
                return try records.putInForce(2)
            }
            #expect(isNew)
            // The key is nowhere: nothing opens, and nothing is made that would be lost.
            await #expect(throws: SealingFailure.unknownVersion(2)) { try await sealed.dataKey(ada.id, keys: node) }
            await #expect(throws: SealingFailure.unknownVersion(2)) { try await sealed.dataKey(eve.id, keys: node) }
            isOnDisk.withLock { $0 = true }
            _ = try await sealed.dataKey(eve.id, keys: node)
            _ = try await sealed.dataKey(ada.id, keys: node)
            #expect(node.currentWrappingVersion == 2)
            let counts = try await sealed.store.read { try DataKeyRepository($0, keys: both).countByVersion() }
            #expect(counts == [2: 2])
        }
    }
}

extension SealedStore {
    /// A user's data key, made where there is none.
    func dataKey(_ user: UserID, keys other: PersonalKeys? = nil) async throws -> DataKey {
        let keys = other ?? keys
        return try await store.write { try DataKeyRepository($0, keys: keys).findOrCreate(user) }
    }

    /// A user with a number and a card.
    func prove(_ user: User, _ number: String, _ facts: CardFacts) async throws {
        let keys = keys
        try await store.write { transaction in
            let records = AuthenticatedUserRepository(transaction, keys: keys)
            _ = try records.phoneProven(user, number, at: Self.now)
            _ = try records.identityVerified(user.id, facts, assurance: .barcode, at: Self.now)
        }
    }

    /// What a user has proved.
    func find(_ user: UserID, keys other: PersonalKeys? = nil) async throws -> AuthenticatedUser? {
        let keys = other ?? keys
        return try await store.read { try AuthenticatedUserRepository($0, keys: keys).find(user) }
    }

    /// The sealed name in a user's row.
    func sealedName(of user: UserID) async throws -> [UInt8] {
        try await store.read { transaction in
            try transaction.first("SELECT full_name FROM authenticated_users WHERE user_id = $1", [.id(user)])?
                .bytes(0) ?? []
        }
    }
}
