import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Tables spent_nonces and spent_identifiers")
struct NonceTableTests {
    private static let key = NonceKey(Secret([UInt8](repeating: 1, count: 32)))

    private static func nonce(_ number: UInt8, seconds: TimeInterval = 60) throws -> Nonce {
        let text = Nonce.issue(
            randomBytes: [UInt8](repeating: number, count: 16), expiresAt: TestTables.now.addingTimeInterval(seconds),
            thumbprint: .of("certificate"), key: key)
        return try #require(Nonce(issuedHere: text, key: key))
    }

    @Test("A nonce is spent once, on either way", arguments: StoreKind.shared)
    func nonces(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (first, second) = (try Self.nonce(1), try Self.nonce(2))
            try await tables.write { try NonceRepository($0).spend(first) }
            await #expect(throws: Refusal.self) { try await tables.write { try NonceRepository($0).spend(first) } }
            try await tables.write { try NonceRepository($0).enqueueSpend(second, generation: "") }
            await #expect(throws: StoreError.constraint(kind: .unique)) {
                try await tables.write { try NonceRepository($0).enqueueSpend(second, generation: "") }
            }
            let third = try Self.nonce(3)
            let spent = try await tables.read {
                (try NonceRepository($0).isSpent(first), try NonceRepository($0).isSpent(third))
            }
            #expect(spent == (true, false))
        }
    }

    @Test("A nonce of a process that missed a restore is refused, and not spent", arguments: StoreKind.shared)
    func generation(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (first, second) = (try Self.nonce(1), try Self.nonce(2))
            try await tables.write { try NonceRepository($0).spend(second) }
            try await tables.write { try RestoreRepository($0).beginNonceGeneration(UUID()) }
            let generation = try await tables.read { try RestoreRepository($0).nonceGeneration() }
            await #expect(throws: Refusal(.unavailable, "")) {
                try await tables.write { try NonceRepository($0).spend(first) }
            }
            await #expect(throws: Refusal(.unavailable, "")) {
                try await tables.write { try NonceRepository($0).enqueueSpend(first, generation: generation) }
            }
            #expect(try await tables.count("spent_nonces") == 1)
        }
    }

    @Test("A nonce whose time is over is refused", arguments: StoreKind.shared)
    func expiry(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let late = try Self.nonce(1, seconds: -5)
            await #expect(throws: Refusal.self) { try await tables.write { try NonceRepository($0).spend(late) } }
            #expect(try await tables.count("spent_nonces") == 0)
        }
    }

    @Test("An identifier is spent once for each provider, and what expired is purged", arguments: StoreKind.shared)
    func identifiers(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let other = ProviderID(UUID())
            let (soon, later) = (TestTables.now.addingTimeInterval(10), TestTables.now.addingTimeInterval(100))
            let nonce = try Self.nonce(1, seconds: 10)
            let answers = try await tables.write { transaction in
                let records = NonceRepository(transaction)
                try records.spend(nonce)
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
                try NonceRepository($0).purge(expiredBefore: soon.addingTimeInterval(1))
                try NonceRepository($0).purgeIdentifiers(expiredBefore: soon.addingTimeInterval(1))
            }
            let left = try await tables.read { try NonceRepository($0).spentIdentifiers() }
            #expect(left.map(\.identifier) == ["\(other)/a"])
            #expect(left.first?.expiresAt == later)
            #expect(try await tables.count("spent_nonces") == 0)
        }
    }
}
