import Database
import Domain

/// The names on users' cards, read for many users at once.
package struct UserNameRepository {
    private let transaction: any Transaction
    private let keys: PersonalKeys
}

package extension UserNameRepository {
    init(_ transaction: any Transaction, keys: PersonalKeys) {
        self.transaction = transaction
        self.keys = keys
    }

    /// A sealed name and its wrapped key.
    struct Sealed: Sendable {
        fileprivate let name: [UInt8]
        fileprivate let wrapped: [UInt8]
        fileprivate let version: Int
    }

    private static let columns = ColumnTuple(
        Column<UserID>("a.user_id"), Column<[UInt8]>("a.\(SealedColumn.fullName.name)"), Column<[UInt8]>("k.wrapped"),
        Column<Int>("k.wrapping_version"))
    private static let some = ListStatement { list in
        """
        SELECT \(columns) FROM authenticated_users a JOIN data_keys k ON k.user_id = a.user_id
        WHERE a.user_id IN \(list.in) AND a.\(SealedColumn.fullName.name) IS NOT NULL AND k.wrapped IS NOT NULL
        """
    }

    /// The names of users who have an accepted card.
    func find(_ users: [UserID]) throws -> [UserID: Sealed] {
        let rows = try transaction.query(Self.some, list: users.map(\.value)).map(Self.columns.read)
        return rows.reduce(into: [:]) { found, row in
            found[row.0] = Sealed(name: row.1, wrapped: row.2, version: row.3)
        }
    }

    /// Opens a name.
    ///
    /// - Throws: ``SealingFailure``.
    func open(_ sealed: Sealed, of user: UserID) throws -> String {
        try DataKeyRepository(transaction, keys: keys).open(sealed.wrapped, version: sealed.version, of: user)
            .open(sealed.name, in: .fullName, of: user)
    }
}
