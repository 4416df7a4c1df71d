import Database
import Domain
import Foundation

/// The apps that users forbid. Sessions of such an app have ended, and it cannot open further ones.
package struct ForbiddenAppRepository {
    private let transaction: any Transaction

    /// Whether a user forbids an app, as SQL.
    ///
    /// - Parameter user: an expression for the user's id.
    static func exists(for user: String) -> String {
        "EXISTS (SELECT 1 FROM forbidden_apps f WHERE f.user_id = \(user))"
    }
}

package extension ForbiddenAppRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = ColumnTuple(
        Column<UserID>("user_id"), Column<ApplicationID>("application_id"), Column<Date>("created_at"))
    private static let listed = ColumnTuple(Column<ApplicationID>("application_id"), Column<Date>("created_at"))

    /// Forbids an app, and makes each sign-in of the user look here.
    ///
    /// - Returns: `false` if the app was forbidden already.
    func insert(_ app: ApplicationID, of user: UserID, at time: Date) throws -> Bool {
        let inserted = try transaction.execute(
            """
            INSERT INTO forbidden_apps (\(Self.columns)) VALUES (\(Self.columns.placeholders))
            ON CONFLICT (user_id, application_id) DO NOTHING
            """, Self.columns.row(user, app, time))
        try GenerationRepository(transaction).setMayBeBanned(true, .user(user))
        return inserted > 0
    }

    /// Moves a user's sessions and push endpoints of all apps but one to the generation that the next bulk revocation
    /// makes. So that revocation ends the sessions of this app alone, and those that it opens at the same time.
    func spareFromRevocation(of user: UserID, besides app: ApplicationID) throws {
        for (table, condition) in [
            ("sessions", SessionRepository.isOpen),
            ("push_endpoints", GenerationRepository.isCurrent("push_endpoints")),
        ] {
            try transaction.execute(
                """
                UPDATE \(table) SET user_generation = user_generation + 1
                WHERE user_id = $1 AND application_id <> $2 AND \(condition)
                """, [.id(user), .id(app)])
        }
    }

    /// Allows an app again; `false` if it was allowed already. The next sign-in finds out whether it must look here.
    func delete(_ app: ApplicationID, of user: UserID) throws -> Bool {
        try transaction.execute(
            "DELETE FROM forbidden_apps WHERE user_id = $1 AND application_id = $2", [.id(user), .id(app)]) > 0
    }

    func forbids(_ app: ApplicationID, to user: UserID) throws -> Bool {
        try transaction.first(
            "SELECT 1 FROM forbidden_apps WHERE user_id = $1 AND application_id = $2", [.id(user), .id(app)]) != nil
    }

    /// The apps that a user forbids, oldest decision first.
    func list(of user: UserID) throws -> [(app: ApplicationID, since: Date)] {
        try transaction.query(
            "SELECT \(Self.listed) FROM forbidden_apps WHERE user_id = $1 ORDER BY created_at, application_id",
            [.id(user)]
        ).map { row in
            let (app, since) = try Self.listed.read(row)
            return (app, since)
        }
    }

    func erase(_ user: UserID) throws {
        try transaction.execute("DELETE FROM forbidden_apps WHERE user_id = $1", [.id(user)])
    }

    // MARK: Restores

    /// A decision in the other store.
    struct Entry: Sendable {
        fileprivate let user: UserID
        fileprivate let app: ApplicationID
        fileprivate let since: Date
    }

    /// All decisions, for a store that replaces this one.
    func all() throws -> [Entry] {
        try transaction.query("SELECT \(Self.columns) FROM forbidden_apps").map(Self.columns.read).map {
            Entry(user: $0, app: $1, since: $2)
        }
    }

    /// Forbids an app as in the other store; `false` if the user or the app is unknown here, or it is forbidden already.
    func insert(_ entry: Entry) throws -> Bool {
        let isKnown = try transaction.first(
            "SELECT 1 FROM users u JOIN applications a ON a.provider_id = u.provider_id WHERE u.id = $1 AND a.id = $2",
            [.id(entry.user), .id(entry.app)])
        return try isKnown != nil && insert(entry.app, of: entry.user, at: entry.since)
    }
}
