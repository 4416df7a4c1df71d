import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Tables users, data_keys and wrapping_versions")
struct UserTableTests {
    @Test("A provider's name for a user leads to one row, whoever comes first", arguments: StoreKind.shared)
    func finding(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (id, again) = (UserID(UUID()), UserID(UUID()))
            let made = try await tables.write { transaction in
                let records = UserRepository(transaction)
                return try [id, again].map {
                    try records.findOrCreate(
                        providerID: tables.provider, externalID: "eve", newID: $0,
                        at: TestTables.now.addingTimeInterval(1))
                }
            }
            #expect(made.map(\.id) == [id, id])
            let twin = tables.person(again, "eve")
            await #expect(throws: StoreError.constraint(kind: .unique)) {
                try await tables.write { try UserRepository($0).enqueueInsert(twin) }
            }
            let (found, listed) = try await tables.read {
                (try UserRepository($0).find(id), try UserRepository($0).list(limit: 1))
            }
            #expect(found == made[0])
            #expect(listed == [made[0]])
            let held = try await tables.store.read {
                try $0.value("SELECT held FROM users WHERE id = $1", [.id(id)], as: Int.self)
            }
            #expect(held == 0)
        }
    }

    @Test("A level lapses with its card, and a profile is kept as it was sealed", arguments: StoreKind.shared)
    func levels(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let id = tables.user
            func level(until end: Date?) async throws -> Assurance? {
                try await tables.write { try UserRepository($0).setAssurance(.barcode, until: end, of: id) }
                return try await tables.read { try UserRepository($0).find(id)?.assurance }
            }
            #expect(try await level(until: nil) == .barcode)
            #expect(try await level(until: TestTables.now.addingTimeInterval(1)) == .barcode)
            #expect(try await level(until: TestTables.now) == .phone)
            try await tables.write {
                try UserRepository($0).setProfile(displayName: [1], avatarURL: nil, index: .of("profile"), of: id)
            }
            let (profile, index) = try await tables.read {
                (try UserRepository($0).profile(of: id), try UserRepository($0).find(id)?.profileIndex)
            }
            #expect(profile.displayName == [1] && profile.avatarURL == nil)
            #expect(index == .of("profile"))
            try await tables.write { try UserRepository($0).erase(id) }
            let (erased, user) = try await tables.read {
                (try UserRepository($0).profile(of: id), try UserRepository($0).find(id))
            }
            #expect(erased.displayName == nil)
            #expect(user == tables.person(id, "ada"))
            try await tables.sql("UPDATE users SET assurance = 'boundless'")
            await #expect(throws: DamagedRow.self) { try await tables.read { try UserRepository($0).find(id) } }
        }
    }

    @Test("What users show is found for many at once, and not of one who is being erased", arguments: StoreKind.shared)
    func publicProfiles(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (named, plain) = (tables.user, try await tables.newUser("plain"))
            try await tables.write { [keys = tables.keys] transaction in
                let key = try DataKeyRepository(transaction, keys: keys).findOrCreate(named)
                try UserRepository(transaction).setProfile(
                    displayName: try key.seal("Ada", in: .userDisplayName, of: named),
                    avatarURL: try key.seal("https://images.example/ada", in: .userAvatarURL, of: named),
                    index: .of("profile"), of: named)
                _ = try UserRepository(transaction).setAssurance(.barcode, until: TestTables.now, of: named)
            }
            let (found, texts, none) = try await tables.read { [keys = tables.keys] transaction in
                let profiles = PublicProfileRepository(transaction, keys: keys)
                let found = try profiles.find([plain, named, UserID(UUID())])
                let (ada, other) = (try #require(found[named]), try #require(found[plain]))
                return (found, try profiles.open(ada, of: named), try profiles.open(other, of: plain))
            }
            #expect(found.mapValues(\.address.text) == [named: "test/ada", plain: "test/plain"])
            #expect(found.mapValues(\.level) == [named: .phone, plain: .none])
            #expect(texts == ("Ada", "https://images.example/ada", nil) && none == (nil, nil, nil))
            try await tables.write { try ErasureRepository($0).begin(named, at: TestTables.now) }
            let left = try await tables.read { [keys = tables.keys] in
                try PublicProfileRepository($0, keys: keys).find([plain, named])
            }
            #expect(Set(left.keys) == [plain])
        }
    }

    @Test("Data keys are made once, wrapped anew page by page, and erased for good", arguments: StoreKind.shared)
    func dataKeys(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let old = try SealedStore.keys(wrapping: [1])
            var users = [tables.user]
            for name in ["b", "c"] { users.append(try await tables.newUser(name)) }
            let sealed = try await tables.write { [users] transaction in
                try users.map {
                    try DataKeyRepository(transaction, keys: old).findOrCreate($0)
                        .seal("x", in: .fullName, of: $0)
                }
            }
            #expect(try await tables.read { try DataKeyRepository($0, keys: old).countByVersion() } == [1: 3])
            var (mark, wrapped, pages) = (DataKeyRepository.Mark?.none, 0, 0)
            repeat {
                let result = try await tables.write { [mark, keys = tables.keys] in
                    try DataKeyRepository($0, keys: keys).rewrap(after: mark, limit: 2)
                }
                (mark, wrapped, pages) = (result.mark, wrapped + result.wrapped, pages + 1)
            } while mark != nil && pages < 10
            #expect(wrapped == 3)
            let opened = try await tables.read { [users, keys = tables.keys] transaction in
                let records = DataKeyRepository(transaction, keys: keys)
                return (
                    try zip(users, sealed).map { try records.find($0)?.open($1, in: .fullName, of: $0) },
                    try records.countByVersion()
                )
            }
            #expect(opened.0 == ["x", "x", "x"])
            #expect(opened.1 == [2: 3])
            let erased = try await tables.write { [keys = tables.keys] transaction in
                let records = DataKeyRepository(transaction, keys: keys)
                return try [
                    records.erase(tables.user, at: TestTables.now), records.erase(tables.user, at: TestTables.now),
                ]
            }
            #expect(erased == [true, false])
            let (key, at, other) = try await tables.read { [users, keys = tables.keys] in
                let records = DataKeyRepository($0, keys: keys)
                return try (records.find(users[0]), records.erasedAt(users[0]), records.erasedAt(users[1]))
            }
            #expect(key == nil)
            #expect(at == TestTables.now)
            #expect(other == nil)
        }
    }

    @Test("The newest version that was put in force is the one in force", arguments: StoreKind.shared)
    func versions(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let answers = try await tables.write { [keys = tables.keys] transaction in
                let records = DataKeyRepository(transaction, keys: keys)
                let first = try records.versionInForce()
                return try (
                    first, records.putInForce(2), records.putInForce(2),
                    records.versionInForce()
                )
            }
            #expect(answers == (1, true, false, 2))
        }
    }
}
