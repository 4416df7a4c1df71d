import Database
import Domain
import Encoding
import Foundation

/// The addresses by which users can be found. A row does not contain the address. Each lookup uses the row that proves
/// it, so no user is found by a number that now belongs to another.
package struct FindableAddressRepository {
    private let transaction: any Transaction
}

package extension FindableAddressRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = ColumnTuple(
        Column<UserID>("user_id"), Column<AddressType>("type"), Column<Date>("since"))
    private static let listed = ColumnTuple(Column<AddressType>("type"), Column<Date>("since"))

    /// Makes an address findable, unless it is already.
    func insert(_ type: AddressType, of user: UserID, at time: Date) throws {
        try transaction.execute(
            """
            INSERT INTO findable_addresses (\(Self.columns)) VALUES (\(Self.columns.placeholders))
            ON CONFLICT (user_id, type) DO NOTHING
            """, Self.columns.row(user, type, time))
    }

    /// Hides an address, unless it is hidden already.
    func delete(_ type: AddressType, of user: UserID) throws {
        try transaction.execute(
            "DELETE FROM findable_addresses WHERE user_id = $1 AND type = $2", [.id(user), type.value])
        if type == .phone { try DiscoveryRepository(transaction).erase(user) }
    }

    func erase(_ user: UserID) throws {
        try transaction.execute("DELETE FROM findable_addresses WHERE user_id = $1", [.id(user)])
        try DiscoveryRepository(transaction).erase(user)
    }

    /// An address that its user has made findable.
    typealias Entry = (type: AddressType, since: Date)

    /// The addresses by which a user can be found.
    func list(of user: UserID) throws -> [Entry] {
        try transaction.query(
            "SELECT \(Self.listed) FROM findable_addresses WHERE user_id = $1 ORDER BY type", [.id(user)]
        ).map(Self.listed.read).map { (type: $0, since: $1) }
    }

    /// The user of a provider who can be found by a number, given its blind indexes. The number of statements does not
    /// depend on the result.
    func holder(ofNumber indexes: [Digest256], at provider: ProviderID) throws -> UserID? {
        try indexes.compactMap { index in
            try transaction.value(
                """
                SELECT a.user_id FROM authenticated_users a JOIN findable_addresses f ON f.user_id = a.user_id
                WHERE a.provider_id = $1 AND a.phone_index = $2 AND a.suspended IS NULL AND f.type = $3
                """, [.id(provider), index.value, AddressType.phone.value], as: UserID.self)
        }.first
    }

    /// The user of a provider who can be found by the provider's external id.
    func holder(ofName externalID: String, at provider: ProviderID) throws -> UserID? {
        try transaction.value(
            """
            SELECT u.id FROM users u JOIN findable_addresses f ON f.user_id = u.id
            WHERE u.provider_id = $1 AND u.external_id = $2 AND f.type = $3
            """, [.id(provider), .text(externalID), AddressType.name.value])
    }
}
