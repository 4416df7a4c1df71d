import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Table authenticated_users")
struct AuthenticatedUserTableTests {
    private static let number = "+14155552671"

    @Test("Who proves a number has it, and who had it is suspended", arguments: StoreKind.shared)
    func numbers(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (keys, eve) = (tables.keys, try await tables.newUser("eve"))
            let index = keys.phoneIndex(Self.number)
            func prove(_ id: UserID, _ name: String) async throws -> [UserID] {
                try await tables.write {
                    try AuthenticatedUserRepository($0, keys: keys).phoneProven(
                        tables.person(id, name), Self.number, at: TestTables.now
                    ).losers
                }
            }
            for _ in 0..<2 { #expect(try await prove(tables.user, "ada") == []) }
            let found = try await tables.read { transaction in
                let records = AuthenticatedUserRepository(transaction, keys: keys)
                return try (
                    records.find(tables.user), records.holders(ofNumber: [index]),
                    records.isHolder(tables.user, ofNumber: [index])
                )
            }
            #expect(found.0?.phoneNumber == Self.number)
            #expect(found.1 == [tables.user])
            #expect(found.2)
            #expect(try await prove(eve, "eve") == [tables.user])
            let (lost, index2, holders) = try await tables.read { transaction in
                let records = AuthenticatedUserRepository(transaction, keys: keys)
                return try (
                    records.find(tables.user), records.numberIndex(of: tables.user), records.holders(ofNumber: [index])
                )
            }
            #expect(lost?.suspended == .phoneReassigned)
            #expect(index2 == nil)
            #expect(holders == [eve])
        }
    }

    @Test("A card is kept for who holds a number, and goes with the user", arguments: StoreKind.shared)
    func cards(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (keys, facts) = (tables.keys, try SealedStore.facts())
            func show() async throws -> Bool {
                try await tables.write {
                    try AuthenticatedUserRepository($0, keys: keys).identityVerified(
                        tables.user, facts, assurance: .barcode, at: TestTables.now) != nil
                }
            }
            #expect(try await !show())
            try await tables.write { transaction in
                _ = try AuthenticatedUserRepository(transaction, keys: keys).phoneProven(
                    tables.person(tables.user, "ada"), Self.number, at: TestTables.now)
            }
            #expect(try await show())
            let (found, level) = try await tables.read {
                (
                    try AuthenticatedUserRepository($0, keys: keys).find(tables.user),
                    try UserRepository($0).find(tables.user)
                )
            }
            #expect(found?.fullName == "Ada Canary")
            #expect(found?.dateOfBirth?.text == "1986-06-06")
            #expect(found?.identityVerifiedAt == TestTables.now)
            #expect(level?.assurance == .barcode)
            try await tables.sql("UPDATE authenticated_users SET suspended = 'asleep'")
            await #expect(throws: DamagedRow.self) {
                try await tables.read { try AuthenticatedUserRepository($0, keys: keys).find(tables.user) }
            }
            try await tables.write { try AuthenticatedUserRepository($0, keys: keys).erase(tables.user) }
            #expect(try await tables.count("authenticated_users") == 0)
        }
    }

    @Test("No two users of a provider hold one number", arguments: StoreKind.shared)
    func uniqueness(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (keys, eve) = (tables.keys, try await tables.newUser("eve"))
            try await tables.write {
                _ = try AuthenticatedUserRepository($0, keys: keys).phoneProven(
                    tables.person(tables.user, "ada"), Self.number, at: TestTables.now)
            }
            await #expect(throws: StoreError.constraint(kind: .unique)) {
                try await tables.sql(
                    """
                    INSERT INTO authenticated_users
                        (user_id, provider_id, phone_index, phone_number, phone_verified_at)
                    SELECT $1, provider_id, phone_index, phone_number, phone_verified_at FROM authenticated_users
                    """, [.id(eve)])
            }
        }
    }

    @Test(
        "An archive takes users page by page, and settles those who proved nothing since", arguments: StoreKind.shared)
    func archive(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (keys, facts) = (tables.keys, try SealedStore.facts())
            var users = [tables.user]
            for name in ["b", "c"] { users.append(try await tables.newUser(name)) }
            try await tables.write { [users] transaction in
                let records = AuthenticatedUserRepository(transaction, keys: keys)
                for (place, id) in users.enumerated() {
                    _ = try records.phoneProven(
                        tables.person(id, "\(place)"), "+1415555267\(place)", at: TestTables.now)
                    _ = try records.identityVerified(
                        id, facts, assurance: .barcode, at: TestTables.now.addingTimeInterval(Double(place)))
                }
            }
            let end = TestTables.now.addingTimeInterval(2)
            let (pages, taken) = try await tables.write { [users] transaction in
                let records = ArchivedUserRepository(transaction, begunAt: TestTables.now)
                let first = try records.waiting(
                    since: .distantPast, before: end, again: false, after: nil, limit: 1)
                let second = try records.waiting(
                    since: .distantPast, before: end, again: false, after: first.last, limit: 5)
                for mark in first + second { try records.take(mark.user) }
                try records.settle(users[0], dropping: [.postalAddress])
                return (
                    [first.map(\.user), second.map(\.user)],
                    try records.taken(since: .distantPast, before: end, after: nil, limit: 5).map(\.user)
                )
            }
            #expect(pages == [[users[0]], [users[1]]])
            #expect(taken == [users[1]])
            let settled = try await tables.read { [users] in
                try AuthenticatedUserRepository($0, keys: keys).find(users[0])
            }
            #expect(settled?.postalAddress == nil)
            #expect(settled?.documentNumber == facts.documentNumber)
        }
    }
}
