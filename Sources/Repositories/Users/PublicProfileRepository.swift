import Database
import Domain
import Foundation

/// What users show to other users of their provider, read for many users at once.
package struct PublicProfileRepository {
    private let transaction: any Transaction
    private let keys: PersonalKeys
}

package extension PublicProfileRepository {
    init(_ transaction: any Transaction, keys: PersonalKeys) {
        self.transaction = transaction
        self.keys = keys
    }

    /// A user's address and level, with the names and the picture sealed under the user's key.
    struct Sealed: Sendable {
        package let address: AuthorizationAddress
        package let level: Assurance
        fileprivate let displayName: [UInt8]?
        fileprivate let avatarURL: [UInt8]?
        fileprivate let fullName: [UInt8]?
        fileprivate let wrapped: [UInt8]?
        fileprivate let wrappingVersion: Int?
    }

    /// The name and the picture from the provider, and the name on the card.
    typealias Texts = (displayName: String?, avatarURL: String?, fullName: String?)

    private static let columns = ColumnTuple(
        Column<UserID>("u.id"), Column<Slug>("p.slug"), Column<String>("u.external_id"),
        Column<Assurance>("u.assurance"), Column<Date?>("u.assurance_until"),
        Column<[UInt8]?>("u.\(SealedColumn.userDisplayName.name)"),
        Column<[UInt8]?>("u.\(SealedColumn.userAvatarURL.name)"), Column<[UInt8]?>("a.\(SealedColumn.fullName.name)"),
        Column<[UInt8]?>("k.wrapped"), Column<Int?>("k.wrapping_version"))
    private static let some = ListStatement { list in
        """
        SELECT \(columns) FROM users u JOIN providers p ON p.id = u.provider_id
        LEFT JOIN authenticated_users a ON a.user_id = u.id LEFT JOIN data_keys k ON k.user_id = u.id
        WHERE u.id IN \(list.in) AND NOT \(ErasureRepository.isUnderWay("u.id"))
        """
    }

    /// The existing users among some, except during their erasure. Whatever the order of the ids, it is one statement
    /// for `Transaction/ahead(_:)`.
    func find(_ users: some Sequence<UserID>) throws -> [UserID: Sealed] {
        let list = Set(users).map(\.description).sorted().map { Value.text($0) }
        return try transaction.query(Self.some, list: list).reduce(into: [:]) { found, row in
            let (id, slug, externalID, level, until, displayName, avatarURL, fullName, wrapped, version) =
                try Self.columns.read(row)
            found[id] = Sealed(
                address: .address(slug, externalID: externalID),
                level: AssuranceLevel(level, until: until).value(at: transaction.now), displayName: displayName,
                avatarURL: avatarURL, fullName: fullName, wrapped: wrapped, wrappingVersion: version)
        }
    }

    /// Opens a user's texts. The user's key is unwrapped once.
    ///
    /// - Throws: ``SealingFailure``.
    func open(_ sealed: Sealed, of user: UserID) throws -> Texts {
        guard sealed.displayName != nil || sealed.avatarURL != nil || sealed.fullName != nil,
            let wrapped = sealed.wrapped, let version = sealed.wrappingVersion
        else { return (nil, nil, nil) }
        let key = try DataKeyRepository(transaction, keys: keys).open(wrapped, version: version, of: user)
        return (
            try sealed.displayName.map { try key.open($0, in: .userDisplayName, of: user) },
            try sealed.avatarURL.map { try key.open($0, in: .userAvatarURL, of: user) },
            try sealed.fullName.map { try key.open($0, in: .fullName, of: user) }
        )
    }
}
