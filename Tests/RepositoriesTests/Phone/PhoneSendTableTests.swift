import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Tables phone_sends, phone_groups, phone_stops, phone_spend, phone_provider_spend and phone_tallies")
struct PhoneSendTableTests {
    private static func target(_ tables: TestTables, number: String = "number", isOwner: Bool = false) -> SendTarget {
        SendTarget(
            userID: tables.user, providerID: tables.provider, age: .new, network: .of("network"),
            number: .of(number), prefixName: "US 1415", prefix: .of("prefix"), country: "US", isOwner: isOwner)
    }

    private static func record(
        _ decision: SendGuard.Decision, to target: SendTarget, _ verification: PhoneVerificationID,
        in transaction: any Transaction
    ) throws {
        try PhoneSendRepository(transaction).record(
            decision, to: target, verification: verification, id: UUID(),
            places: RateRepository.Places(text: "1000 phone address"), policy: PhonePolicy())
    }

    @Test("A text is counted where its limits look, and its right code too", arguments: StoreKind.shared)
    func counting(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let verification = PhoneVerificationID(UUID())
            let (target, other) = (Self.target(tables), Self.target(tables, number: "other"))
            try await tables.write { transaction in
                try Self.record(.send(attributedTo: [.country], through: []), to: target, verification, in: transaction)
                try Self.record(
                    .send(attributedTo: [], through: []), to: other, PhoneVerificationID(UUID()), in: transaction)
                try PhoneSendRepository(transaction).recordVerified(verification)
            }
            let (counts, tallies) = try await tables.read { transaction in
                (
                    try PhoneSendRepository(transaction).counts(for: target, policy: PhonePolicy()),
                    try PhoneTallyRepository(transaction).find(target.counters)
                )
            }
            #expect(counts.askedByUserToday == 1)
            #expect(counts.otherNumbersOfUser == 1)
            #expect(counts.numberLastDay == 1)
            #expect(counts.numberLastHour == 1)
            #expect(counts.groupInPeriod == Conversion(sends: 2, verified: 1))
            #expect(counts.spentToday == 2 * PhonePolicy().textPrice)
            #expect(counts.spentTodayByProvider == 2 * PhonePolicy().textPrice)
            #expect(tallies[target.name(of: .country)]?.hour == Conversion(sends: 1, verified: 1))
            #expect(tallies[target.name(of: .prefix)]?.day == Conversion(sends: 2, verified: 1))
        }
    }

    @Test("A group's texts are counted for seven days, and deleted after them", arguments: StoreKind.shared)
    func groups(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            try await tables.write { transaction in
                let groups = PhoneGroupRepository(transaction)
                for day in 0..<10 {
                    let moment = TestTables.now.addingTimeInterval(-86_400 * Double(day))
                    try groups.add(sends: 2, verified: 1, to: "group one", at: moment)
                    try groups.add(sends: 1, verified: 0, to: "group two", at: moment)
                }
            }
            func found(_ name: String) async throws -> Conversion {
                try await tables.read { try PhoneGroupRepository($0).find(name) }
            }
            #expect(try await found("group one") == Conversion(sends: 16, verified: 8))
            #expect(try await found("group three") == Conversion())
            try await tables.write { try PhoneGroupRepository($0).purge() }
            #expect(try await tables.count("phone_groups") == 16)
            #expect(try await found("group two") == Conversion(sends: 8))
        }
    }

    @Test("A right code gives back what its texts took of the sender's limits, once", arguments: StoreKind.shared)
    func places(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let verification = PhoneVerificationID(UUID())
            try await tables.sql("INSERT INTO rates (key, arrival) VALUES ('phone address', 5000), ('other', 5000)")
            try await tables.write { transaction in
                for _ in 0..<2 {
                    try Self.record(
                        .send(attributedTo: [], through: []), to: Self.target(tables), verification, in: transaction)
                }
                for _ in 0..<2 { try PhoneSendRepository(transaction).recordVerified(verification) }
            }
            let arrivals = try await tables.store.read {
                try $0.values("SELECT arrival FROM rates ORDER BY key", as: Int64.self)
            }
            #expect(arrivals == [5000, 3000])
        }
    }

    @Test("What is thinned out is listed until it is lifted or over", arguments: StoreKind.shared)
    func stops(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let target = Self.target(tables)
            let reason = try #require(SendGuard.WithheldReason.allCases.first)
            try await tables.write { transaction in
                for scope in [SendScope.country, .prefix, .prefix] {
                    try Self.record(
                        .withhold(reason, thins: scope), to: target, PhoneVerificationID(UUID()), in: transaction)
                }
            }
            let listed = try await tables.read { try PhoneSendRepository($0).thinned(limit: 5) }
            #expect(listed.map(\.name) == [target.name(of: .country), target.name(of: .prefix)].sorted())
            #expect(listed.first?.endsAt == TestTables.now.addingTimeInterval(PhonePolicy().breakerPause))
            #expect(try await tables.read { try PhoneSendRepository($0).thinned(limit: 1) }.count == 1)
            let lifted = try await tables.write { transaction in
                try [1, 2].map { _ in try PhoneSendRepository(transaction).lift(target.name(of: .prefix)) }
            }
            #expect(lifted == [true, false])
            #expect(try await tables.count("phone_stops") == 1)
            #expect(try await tables.count("phone_spend") == 0)
        }
    }

    @Test("What no limit counts any more is purged", arguments: StoreKind.shared)
    func purge(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let target = Self.target(tables)
            try await tables.write { transaction in
                try Self.record(
                    .send(attributedTo: [], through: []), to: target, PhoneVerificationID(UUID()), in: transaction)
                try PhoneTallyRepository(transaction).add(
                    sends: 1, verified: 0, to: ["old"], at: TestTables.now.addingTimeInterval(-2 * 86_400))
                try PhoneSendRepository(transaction).purge(before: TestTables.now)
                try PhoneTallyRepository(transaction).purge()
            }
            #expect(try await tables.count("phone_sends") == 1)
            #expect(try await tables.count("phone_tallies") == target.counters(attributedTo: [], through: []).count)
            try await tables.sql("UPDATE phone_sends SET at = at - 8000000")
            try await tables.write {
                try PhoneSendRepository($0).purge(before: TestTables.now.addingTimeInterval(-86_400))
                try PhoneSendRepository($0).dropCounters()
            }
            for column in ["counters", "places"] {
                let values = try await tables.store.read {
                    try $0.values("SELECT \(column) FROM phone_sends", as: String?.self)
                }
                #expect(values == [nil])
            }
            try await tables.write { try PhoneSendRepository($0).purge(before: TestTables.now) }
            #expect(try await tables.count("phone_sends") == 0)
            try await tables.write { transaction in
                try PhoneSendRepository(transaction).purgeSums(before: TestTables.now.addingTimeInterval(86_400))
            }
            #expect(try await tables.count("phone_spend") == 0)
            #expect(try await tables.count("phone_provider_spend") == 0)
        }
    }
}
