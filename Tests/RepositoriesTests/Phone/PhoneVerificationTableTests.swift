import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Tables phone_verifications and phone_failures")
struct PhoneVerificationTableTests {
    private static func entry(_ tables: TestTables, age: TimeInterval = 0, lasts: TimeInterval = 600)
        -> PhoneVerificationRepository.Entry
    {
        let at = TestTables.now.addingTimeInterval(-age)
        return .init(
            challenge: PhoneVerification(
                id: PhoneVerificationID(UUID()), userID: tables.user, deviceID: tables.device, keyVersion: 3,
                createdAt: at, expiresAt: at.addingTimeInterval(lasts), checks: 0, resends: 0, askedAt: at,
                isSent: true, verifiedAt: nil),
            numberIndex: .of("number"), sealedNumber: [1], sealedPushEndpoint: [2])
    }

    @Test("A verification is read as it was written; the newest that is open is found", arguments: StoreKind.shared)
    func reading(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (over, old, new) = (
                Self.entry(tables, age: 900), Self.entry(tables, age: 60), Self.entry(tables)
            )
            try await tables.write { transaction in
                for entry in [over, old, new] { try PhoneVerificationRepository(transaction).insert(entry) }
            }
            let (found, open, elsewhere) = try await tables.read {
                let records = PhoneVerificationRepository($0)
                return try (
                    records.find(old.challenge.id),
                    records.findUnexpired(
                        userID: tables.user, deviceID: tables.device, numberIndexes: [.of("x"), .of("number")]),
                    records.findUnexpired(
                        userID: tables.user, deviceID: DeviceID(UUID()), numberIndexes: [.of("number")])
                )
            }
            #expect(found?.challenge == old.challenge)
            #expect(found?.sealedNumber == [1])
            #expect(found?.sealedPushEndpoint == [2])
            #expect(found?.numberIndex == .of("number"))
            #expect(open?.challenge.id == new.challenge.id)
            #expect(elsewhere == nil)
        }
    }

    @Test("Checks are counted for its user and device alone, resends one by one", arguments: StoreKind.shared)
    func counting(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let entry = Self.entry(tables)
            let id = entry.challenge.id
            var resent = entry.challenge
            (resent.resends, resent.askedAt) = (1, TestTables.now.addingTimeInterval(5))
            let answers = try await tables.write { [resent] transaction in
                let records = PhoneVerificationRepository(transaction)
                try records.insert(entry)
                let counts = try [
                    records.countCheck(id, userID: tables.user, deviceID: tables.device)?.challenge.checks,
                    records.countCheck(id, userID: tables.user, deviceID: DeviceID(UUID()))?.challenge.checks,
                    records.countCheck(id, userID: tables.user, deviceID: tables.device)?.challenge.checks,
                ]
                let resends = try [records.recordResend(resent), records.recordResend(resent)]
                try records.recordVerified(id, at: TestTables.now)
                try records.replacePushEndpoint(id, sealed: nil)
                return (counts, resends, try records.find(id))
            }
            #expect(answers.0 == [1, nil, 2])
            #expect(answers.1 == [true, false])
            #expect(answers.2?.challenge.verifiedAt == TestTables.now)
            #expect(answers.2?.challenge.askedAt == resent.askedAt)
            #expect(answers.2?.sealedPushEndpoint == nil)
        }
    }

    @Test("What is over is purged, an erased user's goes at once, a damaged row is said", arguments: StoreKind.shared)
    func purge(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (over, open) = (Self.entry(tables, age: 900), Self.entry(tables))
            try await tables.write { transaction in
                let records = PhoneVerificationRepository(transaction)
                for entry in [over, open] { try records.insert(entry) }
                try records.purge(expiredBefore: TestTables.now)
            }
            #expect(try await tables.count("phone_verifications") == 1)
            try await tables.sql("UPDATE phone_verifications SET is_sent = 7")
            await #expect(throws: StoreError.self) {
                try await tables.read { try PhoneVerificationRepository($0).find(open.challenge.id) }
            }
            try await tables.write { try PhoneVerificationRepository($0).erase(tables.user) }
            #expect(try await tables.count("phone_verifications") == 0)
            try await tables.write { try PhoneVerificationRepository($0).insert(open) }
            await #expect(throws: StoreError.constraint(kind: .foreignKey)) {
                try await tables.sql("DELETE FROM users")
            }
        }
    }

    @Test("A streak is kept by user and number, and forgotten when it freezes nobody", arguments: StoreKind.shared)
    func failures(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let frozen = PhoneVerification.FailureStreak(count: 0, frozenUntil: TestTables.now.addingTimeInterval(60))
            let found = try await tables.write { transaction in
                let records = PhoneFailureRepository(transaction)
                for count in 1...3 {
                    try records.save(
                        PhoneVerification.FailureStreak(count: count), userID: tables.user, numberIndex: .of("a"))
                }
                try records.save(frozen, userID: tables.user, numberIndex: .of("b"))
                return try [
                    records.find(userID: tables.user, numberIndexes: [.of("x"), .of("a")]),
                    records.find(userID: tables.user, numberIndexes: [.of("b")]),
                    records.find(userID: tables.user, numberIndexes: [.of("x")]),
                ]
            }
            #expect(found == [PhoneVerification.FailureStreak(count: 3), frozen, PhoneVerification.FailureStreak()])
            try await tables.write { transaction in
                try PhoneFailureRepository(transaction).purge(before: TestTables.now.addingTimeInterval(1))
            }
            #expect(try await tables.count("phone_failures") == 1)
        }
    }
}
