import Database
import Foundation
import Identity

/// Users, one row for each person at each provider.
public struct UserRecords {
    private let transaction: any Transaction

    /// Works inside a transaction.
    public init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = "id, provider_id, external_id, assurance, created_at"

    /// The user that a provider calls so, made with the id at hand where there is none yet.
    public func findOrCreate(
        providerID: ProviderID, externalID: String, newID: UserID, at time: Date
    ) throws -> User {
        if let user = try find(providerID: providerID, externalID: externalID) { return user }
        let user = User(
            id: newID, providerID: providerID, externalID: externalID, assurance: .none, createdAt: time)
        let inserted = try transaction.execute(
            """
            INSERT INTO users (\(Self.columns)) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (provider_id, external_id) DO NOTHING
            """,
            [.id(user.id), .id(providerID), .text(externalID), .text(user.assurance.rawValue), .time(time)])
        if inserted > 0 { return user }
        // Another node was faster: what stands in the table counts.
        return try find(providerID: providerID, externalID: externalID) ?? user
    }

    /// The user that a provider calls so.
    public func find(providerID: ProviderID, externalID: String) throws -> User? {
        try transaction.first(
            "SELECT \(Self.columns) FROM users WHERE provider_id = $1 AND external_id = $2",
            [.id(providerID), .text(externalID)]
        ).map(Self.user)
    }

    /// The user with an id.
    public func find(_ id: UserID) throws -> User? {
        try transaction.first("SELECT \(Self.columns) FROM users WHERE id = $1", [.id(id)]).map(Self.user)
    }

    private static func user(_ row: Row) throws -> User {
        User(
            id: try row.id(0), providerID: try row.id(1), externalID: try row.text(2), assurance: try row.word(3),
            createdAt: try row.time(4))
    }
}
