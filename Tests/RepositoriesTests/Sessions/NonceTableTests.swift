import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Table spent_identifiers, and nonces")
struct NonceTableTests {
    @Test("A nonce is spent once, by whichever row has its id", arguments: StoreKind.shared)
    func nonces(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (first, second, third) = (try tables.nonce(1), try tables.nonce(2), try tables.nonce(3))
            let holder = tables.session(1)
            try await tables.write { try NonceRepository($0).spend(first, of: holder) }
            await #expect(throws: Refusal(.invalidIdentityToken, "", reason: .nonceUsed)) {
                try await tables.write { try NonceRepository($0).spend(first, of: holder) }
            }
            let row = Session(spending: second, of: holder, at: TestTables.now)
            try await tables.write { try SessionRepository($0).enqueueEnded(row) }
            await #expect(throws: StoreError.constraint(kind: .unique)) {
                try await tables.write { try SessionRepository($0).enqueueEnded(row) }
            }
            let spent = try await tables.read { transaction in
                try [first, second, third].map { try NonceRepository(transaction).isSpent($0) }
            }
            #expect(spent == [true, true, false])
            #expect(try await tables.read { try SessionRepository($0).find(second.sessionID) } == row)
            // Whoever only tried to sign in on a device has none there.
            let devices = try await tables.read {
                (
                    try SessionRepository($0).devices(of: tables.user),
                    try DeviceRepository($0).list(of: tables.user, limit: 9)
                )
            }
            #expect(devices.0.isEmpty && devices.1.isEmpty)
            try await tables.write { try SessionRepository($0).insert(holder, at: .first) }
            #expect(try await tables.read { try SessionRepository($0).devices(of: tables.user) } == [tables.device])
        }
    }

    @Test("A nonce that outlives the row by which it is spent is refused", arguments: StoreKind.shared)
    func longLived(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let holder = tables.session(1)
            let last = try tables.nonce(1, seconds: NoncePolicy.longestRemainder)
            try await tables.write { try NonceRepository($0).spend(last, of: holder) }
            let beyond = try tables.nonce(2, seconds: NoncePolicy.longestRemainder + 1)
            await #expect(throws: Refusal(.invalidIdentityToken, "", reason: .nonceExpired)) {
                try await tables.write { try NonceRepository($0).spend(beyond, of: holder) }
            }
            #expect(try await tables.read { try NonceRepository($0).isSpent(beyond) } == false)
        }
    }

    @Test("A nonce of a process that missed a restore is refused, and not spent", arguments: StoreKind.shared)
    func generation(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (first, second) = (try tables.nonce(1), try tables.nonce(2))
            let holder = tables.session(1)
            try await tables.write { try NonceRepository($0).spend(second, of: holder) }
            try await tables.write { try RestoreRepository($0).beginNonceGeneration(UUID()) }
            let generation = try await tables.read { try RestoreRepository($0).nonceGeneration() }
            await #expect(throws: Refusal(.unavailable, "")) {
                try await tables.write { try NonceRepository($0).spend(first, of: holder) }
            }
            await #expect(throws: Refusal(.unavailable, "")) {
                try await tables.read { try NonceRepository($0).require(first, generation: generation) }
            }
            #expect(try await tables.count("sessions") == 1)
        }
    }

    @Test("A nonce whose time is over is refused", arguments: StoreKind.shared)
    func expiry(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (late, holder) = (try tables.nonce(1, seconds: -5), tables.session(1))
            await #expect(throws: Refusal(.invalidIdentityToken, "", reason: .nonceExpired)) {
                try await tables.write { try NonceRepository($0).spend(late, of: holder) }
            }
            #expect(try await tables.count("sessions") == 0)
        }
    }

    @Test("An identifier is spent once for each provider, and what expired is purged", arguments: StoreKind.shared)
    func identifiers(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let other = ProviderID(UUID())
            let (soon, later) = (TestTables.now.addingTimeInterval(10), TestTables.now.addingTimeInterval(100))
            let answers = try await tables.write { transaction in
                let records = NonceRepository(transaction)
                return try (
                    records.spend(identifier: "a", of: tables.provider, until: soon),
                    records.spend(identifier: "a", of: tables.provider, until: soon),
                    records.spend(identifier: "a", of: other, until: later)
                )
            }
            #expect(answers == (true, false, true))
            let listed = try await tables.read { try NonceRepository($0).spentIdentifiers() }
            #expect(Set(listed.map(\.identifier)) == ["\(tables.provider)/a", "\(other)/a"])
            try await tables.write {
                try NonceRepository($0).purgeIdentifiers(expiredBefore: soon.addingTimeInterval(1))
            }
            let left = try await tables.read { try NonceRepository($0).spentIdentifiers() }
            #expect(left.map(\.identifier) == ["\(other)/a"])
            #expect(left.first?.expiresAt == later)
        }
    }
}
