import Database
import Domain
import Encoding
import Foundation

/// Users, one row for each user of each provider.
package struct UserRepository {
    let transaction: any Transaction
}

package extension UserRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = UserRow.columns
    private static let insertion = columns.insertion(with: "held")

    /// The user with a provider's external id, created with the given id if there is none yet.
    func findOrCreate(
        providerID: ProviderID, externalID: String, newID: UserID, at time: Date
    ) throws -> User {
        if let user = try find(providerID: providerID, externalID: externalID) { return user }
        let user = User(
            id: newID, providerID: providerID, externalID: externalID, assurance: .none, createdAt: time)
        let inserted = try transaction.execute(
            "\(Self.insertion) ON CONFLICT (provider_id, external_id) DO NOTHING", Self.values(of: user))
        if inserted > 0 { return user }
        // Another node was faster, so its row is used.
        return try find(providerID: providerID, externalID: externalID) ?? user
    }

    /// Inserts a user that this transaction has not found. If another node was faster, the body fails with
    /// `StoreError.constraint` `unique`.
    func enqueueInsert(_ user: User) throws {
        try transaction.enqueue(Self.insertion, Self.values(of: user))
    }

    private static func values(of user: User) -> [Value] { columns.row(UserRow(user), false.value) }

    /// The user with a provider's external id; `nil` if there is none.
    func find(providerID: ProviderID, externalID: String) throws -> User? {
        try transaction.first(
            Self.columns, "WHERE provider_id = $1 AND external_id = $2", [.id(providerID), .text(externalID)]
        )?.user(at: transaction.now)
    }

    /// The user with an id; `nil` if there is none.
    func find(_ id: UserID) throws -> User? {
        try transaction.first(Self.columns, "WHERE id = $1", [.id(id)])?.user(at: transaction.now)
    }

    private static let some = ListStatement { "SELECT \(columns) FROM users WHERE id IN \($0.in)" }

    /// The existing users among some ids.
    func find(_ ids: [UserID]) throws -> [UserID: User] {
        let found = try transaction.query(Self.some, list: ids.map(\.value)).map(user(in:))
        return Dictionary(found.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// A user's level; `nil` if there is no such user.
    func level(of id: UserID) throws -> AssuranceLevel? {
        guard let level = try transaction.first(Self.columns, "WHERE id = $1", [.id(id)])?.level else { return nil }
        return try AgeProofRepository.exists(id, in: transaction) ? level.withAgeProof : level
    }

    private static let newest = NewestFirst(table: "users", key: "id", time: "created_at")

    /// The newest users.
    ///
    /// - Parameter cursor: the id of the last user of the previous page; `nil` for the first page.
    /// - Throws: `Refusal` `not_found` if the cursor's row was deleted.
    func list(limit: Int, after cursor: String? = nil) throws -> [User] {
        let page = Self.newest.page(from: 2)
        return try transaction.query(
            Self.columns, "WHERE \(page.condition) \(page.order) LIMIT $1",
            [limit.value] + Self.newest.place(behind: cursor, in: transaction)
        ).map { $0.user(at: transaction.now) }
    }

    /// Sets a user's level.
    ///
    /// - Parameter until: when a level above `Assurance/phone` expires, because its card does.
    /// - Returns: the change, possibly only of the date of expiry; `nil` if there is no such user.
    func setAssurance(_ assurance: Assurance, until: Date?, of id: UserID) throws -> Assurance.Change? {
        let before = try find(id)
        try transaction.execute(
            "UPDATE users SET assurance = $2, assurance_until = $3 WHERE id = $1",
            [.id(id), assurance.value, .time(until)])
        return before.map {
            Assurance.Change(userID: id, providerID: $0.providerID, from: $0.assurance, to: assurance)
        }
    }

    /// Stores a user's profile from the provider, sealed under the user's key.
    ///
    /// - Parameter index: a keyed digest of the profile, by which the next sign-in detects changes.
    func setProfile(displayName: [UInt8]?, avatarURL: [UInt8]?, index: Digest256, of id: UserID) throws {
        try transaction.execute(
            "UPDATE users SET display_name = $2, avatar_url = $3, profile_index = $4 WHERE id = $1",
            [.id(id), displayName.value, avatarURL.value, index.value])
    }

    private static let profile = ColumnTuple(
        Column<[UInt8]?>(SealedColumn.userDisplayName.name), Column<[UInt8]?>(SealedColumn.userAvatarURL.name))

    /// A user's profile from the provider, sealed: name and picture.
    func profile(of id: UserID) throws -> (displayName: [UInt8]?, avatarURL: [UInt8]?) {
        try transaction.first("SELECT \(Self.profile) FROM users WHERE id = $1", [.id(id)]).map(Self.profile.read)
            ?? (nil, nil)
    }

    /// Deletes level and profile. The row stays, so that the external id keeps its user id.
    func erase(_ id: UserID) throws {
        try transaction.execute(
            """
            UPDATE users SET assurance = 'none', assurance_until = NULL, display_name = NULL, avatar_url = NULL,
                profile_index = NULL, erased_at = $2
            WHERE id = $1
            """, [.id(id), .time(transaction.now)])
    }

    private func user(in row: Row) throws -> User { try Self.columns.read(row).user(at: transaction.now) }
}

/// A row of `users` without the sealed profile, which is read separately.
struct UserRow: Sendable {
    /// The user with the stored level.
    private let stored: User
    private let until: Date?

    init(_ user: User, until: Date? = nil) {
        (stored, self.until) = (user, until)
    }

    static let columns = Table<UserRow>(
        "users",
        { id, provider, externalID, assurance, until, createdAt, profileIndex in
            UserRow(
                User(
                    id: id, providerID: provider, externalID: externalID, assurance: assurance, createdAt: createdAt,
                    profileIndex: profileIndex),
                until: until)
        },
        Field("id", \.stored.id),
        Field("provider_id", \.stored.providerID),
        Field("external_id", \.stored.externalID),
        Field("assurance", \.stored.assurance),
        Field("assurance_until", \.until),
        Field("created_at", \.stored.createdAt),
        Field("profile_index", \.stored.profileIndex))

    var level: AssuranceLevel { AssuranceLevel(stored.assurance, until: until) }

    /// The user, with the level at a given time.
    func user(at now: Date) -> User {
        var user = stored
        user.assurance = level.value(at: now)
        return user
    }
}
