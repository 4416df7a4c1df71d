import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Tables discovery_keys, discovery_entries and discovery_budgets")
struct DiscoveryTableTests {
    private static let number = "+14155552671"
    private static let week = DiscoveryWeek(at: TestTables.now)

    @Test("A week's key is made once, and is gone with its row", arguments: StoreKind.shared)
    func keys(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (keys, derived) = (tables.keys, DerivedDiscoveryKeys())
            func make(_ byte: UInt8) async throws -> [UInt8] {
                let entry = try await tables.write {
                    try DiscoveryKeyRepository($0, keys: keys, derived: derived).findOrCreate(
                        Self.week, of: tables.provider, seed: [UInt8](repeating: byte, count: 32))
                }
                return try #require(entry).publicKey
            }
            let first = try await make(1)
            #expect(try await make(2) == first)
            let entry = try await tables.write { transaction in
                let records = DiscoveryKeyRepository(transaction, keys: keys, derived: derived)
                try records.count(entries: 5000, in: Self.week, of: tables.provider)
                try records.count(entries: 5000, in: Self.week, of: tables.provider)
                return try records.find(Self.week, of: tables.provider)
            }
            #expect(entry?.bits == 1)
            let others = try await tables.read { transaction in
                let records = DiscoveryKeyRepository(transaction, keys: keys, derived: derived)
                return [
                    try records.find(DiscoveryWeek(Self.week.number + 1), of: tables.provider)?.bits,
                    try records.find(Self.week, of: ProviderID(UUID()))?.bits,
                ]
            }
            #expect(others == [nil, nil])
            let lost = try SealedStore.keys(index: [2])
            await #expect(throws: SealingFailure.unknownVersion(1)) {
                try await tables.read {
                    try DiscoveryKeyRepository($0, keys: lost, derived: derived).find(Self.week, of: tables.provider)?
                        .bits
                }
            }
            let purged = try await tables.write { transaction in
                let next = DiscoveryWeek(Self.week.number + 1)
                return [
                    try DiscoveryKeyRepository.purge(before: Self.week, in: transaction),
                    try DiscoveryKeyRepository.purge(before: next, in: transaction),
                ]
            }
            #expect(purged == [0, 1])
            // A key of the same week is another one.
            #expect(try await make(2) != first)
        }
    }

    private static func share(_ tables: TestTables, _ user: UserID, _ name: String, _ number: String) async throws {
        try await tables.write { transaction in
            _ = try AuthenticatedUserRepository(transaction, keys: tables.keys).phoneProven(
                tables.person(user, name), number, at: TestTables.now)
            try FindableAddressRepository(transaction).insert(.phone, of: user, at: TestTables.now)
        }
    }

    private static func entry(_ first: UInt8, _ rest: UInt8 = 0) -> DiscoveryBucket.Entry {
        DiscoveryBucket.Entry(
            tag: [first] + [UInt8](repeating: rest, count: 15), masked: [UInt8](repeating: rest, count: 16))
    }

    @Test("A number lacks its entry until it is filled, and an entry goes with the number", arguments: StoreKind.shared)
    func filling(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let eve = try await tables.newUser("eve")
            try await Self.share(tables, tables.user, "ada", Self.number)
            try await Self.share(tables, eve, "eve", "+14155552672")
            func lacking() async throws -> [DiscoveryRepository.Lacking] {
                try await tables.read { try DiscoveryRepository($0).lacking(Self.week, limit: 10) }
            }
            let first = try await lacking()
            #expect(Set(first.map(\.user)) == [tables.user, eve])
            let ada = try #require(first.first { $0.user == tables.user })
            let other = try #require(first.first { $0.user == eve })
            #expect(ada.provider == tables.provider && ada.number == tables.keys.phoneIndex(Self.number))
            let filled = try await tables.write { transaction in
                let records = DiscoveryRepository(transaction)
                return [
                    try records.fill(ada, Self.entry(1), of: Self.week),
                    try records.fill(ada, Self.entry(1), of: Self.week),
                    // Nothing could be made of this one.
                    try records.fill(other, nil, of: Self.week),
                ]
            }
            #expect(filled == [true, false, false])
            #expect(try await lacking().isEmpty)
            // The number is another one when the entry comes.
            try await Self.share(tables, eve, "eve", "+14155552673")
            let late = try await tables.write { transaction in
                try FindableAddressRepository(transaction).delete(.phone, of: eve)
                try FindableAddressRepository(transaction).insert(.phone, of: eve, at: TestTables.now)
                return try DiscoveryRepository(transaction).fill(other, Self.entry(2), of: Self.week)
            }
            #expect(!late)
            #expect(try await tables.count("discovery_entries") == 1)
            try await tables.write { try FindableAddressRepository($0).erase(tables.user) }
            #expect(try await tables.count("discovery_entries") == 0)
        }
    }

    @Test("A bucket is read in parts, and no other provider's or week's is in it", arguments: StoreKind.shared)
    func buckets(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            for byte in [UInt8](0..<8) {
                let (user, name) = (try await tables.newUser("user \(byte)"), "user \(byte)")
                try await Self.share(tables, user, name, "+1415555300\(byte)")
                try await tables.write { transaction in
                    let records = DiscoveryRepository(transaction)
                    for one in try records.lacking(Self.week, limit: 10) {
                        _ = try records.fill(one, Self.entry(byte << 5, byte), of: Self.week)
                    }
                }
            }
            func tags(_ number: Int, _ bits: Int, after: [UInt8]? = nil, limit: Int = 100) async throws -> [UInt8] {
                let bucket = try #require(DiscoveryBucket(number, bits: bits))
                return try await tables.read {
                    try DiscoveryRepository($0).list(
                        bucket, after: after, in: Self.week, of: tables.provider, limit: limit)
                }.map { $0.tag[0] >> 5 }
            }
            #expect(try await tags(0, 0) == Array(0..<8))
            #expect(try await tags(1, 1) == [4, 5, 6, 7])
            #expect(try await tags(3, 3) == [3])
            #expect(try await tags(0, 1, limit: 3) == [0, 1, 2])
            #expect(try await tags(0, 1, after: Self.entry(1 << 5, 1).tag) == [2, 3])
            let elsewhere = try await tables.read { transaction in
                let records = DiscoveryRepository(transaction)
                let bucket = try #require(DiscoveryBucket(0, bits: 0))
                return try records.list(
                    bucket, after: nil, in: Self.week, of: ProviderID(UUID()), limit: 9
                ).count
                    + records.list(
                        bucket, after: nil, in: DiscoveryWeek(1), of: tables.provider, limit: 9
                    ).count
            }
            #expect(elsewhere == 0)
            try await tables.write { transaction in
                _ = try DiscoveryRepository(transaction).purge(before: Self.week)
            }
            #expect(try await tables.count("discovery_entries") == 8)
            try await tables.write { transaction in
                _ = try DiscoveryRepository(transaction).purge(before: DiscoveryWeek(Self.week.number + 1))
            }
            #expect(try await tables.count("discovery_entries") == 0)
        }
    }

    @Test("Evaluations are counted for a number and a day, up to the limit exactly", arguments: StoreKind.shared)
    func budgets(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let number = tables.keys.phoneIndex(Self.number)
            let counted = try await tables.write { transaction in
                try [(60, number), (40, number), (1, number), (101, .of("other")), (100, .of("other"))].map {
                    try DiscoveryRepository(transaction).count($0.0, for: $0.1, limit: 100)
                }
            }
            #expect(counted == [true, true, false, false, true])
            try await tables.write { _ = try DiscoveryRepository($0).purgeBudgets() }
            #expect(try await tables.count("discovery_budgets") == 2)
            try await tables.sql("UPDATE discovery_budgets SET day = day - 1")
            try await tables.write { _ = try DiscoveryRepository($0).purgeBudgets() }
            #expect(try await tables.count("discovery_budgets") == 0)
        }
    }
}
