import Crypto
import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

/// `Vectors/sealed.json` was written when each caller still named table and column itself. Its data are invented.
@Suite("Sealed places")
struct SealedPlaceTests {
    private struct Vectors: Decodable {
        struct Sealed: Decodable {
            let table: String
            let column: String
            let row: String
            let text: String
            let sealed: String
            /// The version of the wrapping key, for what is sealed under that itself.
            let version: Int?

            var place: SealedColumn { SealedColumn(table: table, name: column) }
        }

        struct WrappedKey: Decodable {
            let user: String
            let version: Int
            let wrapped: String
        }

        let sealed: [Sealed]
        let wrappedKeys: [WrappedKey]
    }

    private let vectors: Vectors
    private let keys: PersonalKeys

    init() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Vectors/sealed.json")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        vectors = try decoder.decode(Vectors.self, from: Data(contentsOf: file))
        keys = try SealedStore.keys(wrapping: [1, 2])
    }

    @Test("are written down once, and are those of before")
    func places() {
        #expect(vectors.sealed.count == SealedColumn.all.count)
        #expect(Set(vectors.sealed.map(\.place)) == Set(SealedColumn.all))
    }

    @Test("open what was sealed in them before, in its own row and no other")
    func opening() throws {
        let dataKey = try openedKey(0)
        for vector in vectors.sealed {
            let bytes = try #require(Base64URL.decode(vector.sealed))
            let row: UserID = try #require(Identifier(vector.row))
            let column = try #require(SealedColumn.all.first { $0 == vector.place })
            func open(_ row: UserID) throws -> String {
                guard let version = vector.version else { return try dataKey.open(bytes, in: column, of: row) }
                return try keys.open(SealedText(bytes: bytes, version: version), in: column, of: row)
            }
            #expect(try open(row) == vector.text, "\(column)")
            #expect(throws: SealingFailure.notAuthentic) { try open(UserID(UUID())) }
        }
    }

    @Test("Data keys that were wrapped before open, and are one and the same under both versions")
    func wrappedKeys() throws {
        #expect(vectors.wrappedKeys.map(\.version) == [1, 2])
        let sealed = try openedKey(0).seal("Ada Canary", in: .fullName, row: "1")
        #expect(try openedKey(1).open(sealed, in: .fullName, row: "1") == "Ada Canary")
    }

    @Test("A row of before is read by the repository, each column in its own place")
    func row() async throws {
        try await SealedStore.run { sealed in
            let ada = try await sealed.user("ada")
            let key = try #require(vectors.wrappedKeys.first)
            let wrapped = try #require(Base64URL.decode(key.wrapped))
            let user = try #require(UserID(key.user))
            let columns = Dictionary(
                uniqueKeysWithValues: vectors.sealed.filter { $0.table == "authenticated_users" }.map {
                    ($0.column, Value.bytes(Base64URL.decode($0.sealed) ?? []))
                })
            try await sealed.store.write { transaction in
                try transaction.execute("UPDATE users SET id = $2 WHERE id = $1", [.id(ada.id), .id(user)])
                try transaction.execute(
                    "INSERT INTO data_keys (user_id, wrapped, wrapping_version) VALUES ($1, $2, 1)",
                    [.id(user), .bytes(wrapped)])
                let names = columns.keys.sorted()
                try transaction.execute(
                    """
                    INSERT INTO authenticated_users
                        (user_id, provider_id, phone_index, phone_verified_at, \(names.joined(separator: ", ")))
                    VALUES ($1, $2, $3, 0, \(names.indices.map { "$\($0 + 4)" }.joined(separator: ", ")))
                    """,
                    [.id(user), .id(sealed.provider), .bytes([UInt8](repeating: 0, count: 32))]
                        + names.compactMap { columns[$0] })
            }
            let found = try #require(try await sealed.find(user))
            let texts = Dictionary(
                uniqueKeysWithValues: vectors.sealed.filter { $0.table == "authenticated_users" }.map {
                    ($0.column, $0.text)
                })
            #expect(texts.count == 6)
            #expect(found.phoneNumber == texts["phone_number"])
            #expect(found.fullName == texts["full_name"])
            #expect(found.dateOfBirth?.text == texts["date_of_birth"])
            #expect(found.postalAddress == texts["postal_address"])
            #expect(found.documentNumber == texts["document_number"])
            #expect(found.jurisdiction == texts["jurisdiction"])
        }
    }

    private func openedKey(_ index: Int) throws -> DataKey {
        let key = vectors.wrappedKeys[index]
        return try DataKey(
            wrapped: try #require(Base64URL.decode(key.wrapped)), under: SealedStore.key(key.version),
            version: key.version, row: key.user)
    }
}
