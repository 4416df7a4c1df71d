import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Table findable_addresses")
struct FindableAddressTableTests {
    private static let number = "+14155552671"

    @Test("A user is found by what they share and prove, within their provider alone", arguments: StoreKind.shared)
    func findable(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (keys, eve) = (tables.keys, try await tables.newUser("eve"))
            let indexes = keys.phoneIndexes(Self.number)
            func prove(_ id: UserID, _ name: String) async throws {
                _ = try await tables.write {
                    try AuthenticatedUserRepository($0, keys: keys).phoneProven(
                        tables.person(id, name), Self.number, at: TestTables.now)
                }
            }
            func found() async throws -> [UserID?] {
                try await tables.read { transaction in
                    let records = FindableAddressRepository(transaction)
                    return [
                        try records.holder(ofNumber: indexes, at: tables.provider),
                        try records.holder(ofNumber: indexes, at: ProviderID(UUID())),
                        try records.holder(ofName: "ada", at: tables.provider),
                        try records.holder(ofName: "ada", at: ProviderID(UUID())),
                    ]
                }
            }
            try await prove(tables.user, "ada")
            #expect(try await found() == [nil, nil, nil, nil])
            try await tables.write { transaction in
                let records = FindableAddressRepository(transaction)
                for type in AddressType.allCases + [.phone] {
                    try records.insert(type, of: tables.user, at: TestTables.now)
                }
            }
            #expect(try await found() == [tables.user, nil, tables.user, nil])
            let listed = try await tables.read { try FindableAddressRepository($0).list(of: tables.user) }
            #expect(listed.map(\.type) == [.name, .phone] && listed.allSatisfy { $0.since == TestTables.now })
            try await prove(eve, "eve")
            #expect(try await found() == [nil, nil, tables.user, nil])
        }
    }

    @Test("What is hidden is found no more, each address by itself or all at once", arguments: StoreKind.shared)
    func hidden(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            try await tables.write { transaction in
                let records = FindableAddressRepository(transaction)
                for type in AddressType.allCases { try records.insert(type, of: tables.user, at: TestTables.now) }
                try records.delete(.name, of: tables.user)
                #expect(try records.list(of: tables.user).map(\.type) == [.phone])
                #expect(try records.holder(ofName: "ada", at: tables.provider) == nil)
                try records.erase(tables.user)
            }
            #expect(try await tables.count("findable_addresses") == 0)
            await #expect(throws: StoreError.constraint(kind: .foreignKey)) {
                try await tables.write {
                    try FindableAddressRepository($0).insert(.name, of: UserID(UUID()), at: TestTables.now)
                }
            }
        }
    }
}
