import Database
import Domain
import Encoding
import Foundation

/// Users, one row for each person at each provider.
package struct UserRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    static let columnNames = [
        "id", "provider_id", "external_id", "assurance", "assurance_until", "created_at", "profile_index",
    ]
    private static let columns = columnNames.joined(separator: ", ")

    /// The user that a provider calls so, made with the id at hand where there is none yet.
    package func findOrCreate(
        providerID: ProviderID, externalID: String, newID: UserID, at time: Date
    ) throws -> User {
        if let user = try find(providerID: providerID, externalID: externalID) { return user }
        let user = User(
            id: newID, providerID: providerID, externalID: externalID, assurance: .none, createdAt: time)
        let inserted = try transaction.execute(
            """
            \(Self.insertion) ON CONFLICT (provider_id, external_id) DO NOTHING
            """, Self.values(of: user))
        if inserted > 0 { return user }
        // Another node was faster: what stands in the table counts.
        return try find(providerID: providerID, externalID: externalID) ?? user
    }

    /// Writes a user whom this transaction has looked for in vain. Where another one was faster the body fails with
    /// `StoreError.constraint` `unique`.
    package func enqueueInsert(_ user: User) throws {
        try transaction.enqueue(Self.insertion, Self.values(of: user))
    }

    /// `subject` is the id as bans name it; users of before have none.
    private static let insertion =
        "INSERT INTO users (id, subject, provider_id, external_id, assurance, created_at) VALUES ($1, $2, $3, $4, $5, $6)"

    private static func values(of user: User) -> [Value] {
        [
            .id(user.id), .bytes(user.id.bytes), .id(user.providerID), .text(user.externalID),
            .text(user.assurance.rawValue), .time(user.createdAt),
        ]
    }

    /// The user that a provider calls so.
    package func find(providerID: ProviderID, externalID: String) throws -> User? {
        try transaction.first(
            "SELECT \(Self.columns) FROM users WHERE provider_id = $1 AND external_id = $2",
            [.id(providerID), .text(externalID)]
        ).map(user)
    }

    /// The user with an id.
    package func find(_ id: UserID) throws -> User? {
        try transaction.first("SELECT \(Self.columns) FROM users WHERE id = $1", [.id(id)]).map(user)
    }

    /// The newest users.
    package func list(limit: Int) throws -> [User] {
        try transaction.query(
            "SELECT \(Self.columns) FROM users ORDER BY created_at DESC, id LIMIT $1", [.integer(Int64(limit))]
        ).map(user)
    }

    /// Sets how far a user is verified, and tells the provider where that is something new.
    ///
    /// - Parameter until: when what is above `Assurance/phone` lapses, since the card ends that it rests on.
    package func setAssurance(_ assurance: Assurance, until: Date?, of id: UserID) throws {
        let before = try find(id)
        try transaction.execute(
            "UPDATE users SET assurance = $2, assurance_until = $3 WHERE id = $1",
            [.id(id), .text(assurance.rawValue), .time(until)])
        guard let before, before.assurance != assurance else { return }
        try ProviderWebhookRepository(transaction).tell(
            .assuranceLevelChanged(from: before.assurance, to: assurance), of: id, to: before.providerID)
    }

    /// Keeps what a provider says of a user, sealed under the user's key.
    ///
    /// - Parameter index: a keyed digest of all of it, by which the next sign-in sees that nothing has changed.
    package func setProfile(displayName: [UInt8]?, avatarURL: [UInt8]?, index: Digest256, of id: UserID) throws {
        try transaction.execute(
            "UPDATE users SET display_name = $2, avatar_url = $3, profile_index = $4 WHERE id = $1",
            [.id(id), Value(displayName), Value(avatarURL), .bytes(index.bytes)])
    }

    /// What a provider says of a user, sealed: name and picture.
    package func profile(of id: UserID) throws -> (displayName: [UInt8]?, avatarURL: [UInt8]?) {
        guard let row = try transaction.first("SELECT display_name, avatar_url FROM users WHERE id = $1", [.id(id)])
        else { return (nil, nil) }
        return (try row.bytesOrNull(0), try row.bytesOrNull(1))
    }

    /// Forgets level and profile; the row stays, so that the provider's name for the user keeps its meaning.
    package func erase(_ id: UserID) throws {
        try transaction.execute(
            """
            UPDATE users SET assurance = 'none', assurance_until = NULL, display_name = NULL, avatar_url = NULL,
                profile_index = NULL
            WHERE id = $1
            """, [.id(id)])
    }

    private func user(_ row: Row) throws -> User { try Self.user(row, from: 0, now: transaction.now) }

    /// The user whose columns begin at a place.
    static func user(_ row: Row, from first: Int, now: Date) throws -> User {
        let stored: Assurance = try row.word(first + 3)
        let hasLapsed = try row.timeOrNull(first + 4).map { $0 <= now } ?? false
        return User(
            id: try row.id(first), providerID: try row.id(first + 1), externalID: try row.text(first + 2),
            assurance: hasLapsed ? min(stored, .phone) : stored, createdAt: try row.time(first + 5),
            profileIndex: try row.bytesOrNull(first + 6).flatMap { Digest256($0) })
    }
}
