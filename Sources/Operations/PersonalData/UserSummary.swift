import Database
import Domain
import Repositories

/// A user without personal data, for lists.
package struct UserSummary: Sendable {
    package let user: User
    /// The user's address in the API: `<provider slug>/<external id>`.
    package let address: String

    /// The user that an admin names by id, by the beginning of the id, or by address.
    ///
    /// - Throws: `Refusal` `not_found`, or `conflict` if several ids have the beginning.
    static func find(_ name: String, in transaction: any Transaction) throws -> UserSummary {
        let users = UserRepository(transaction)
        var found: UserRepository.Addressed?
        let typed = TypedID<Kind.User>(name)
        if typed.range != nil {
            let beginning = try users.addressed(typed, limit: mostNamed)
            let id = try typed.resolve { beginning.prefix($0).map(\.user.id) }
            found = beginning.first { $0.user.id == id }
        } else if let slash = name.firstIndex(of: "/"), let slug = Slug(String(name[..<slash])) {
            found = try users.addressed(slug: slug, externalID: String(name[name.index(after: slash)...]))
        }
        guard let found else { throw Refusal.noUser(named: name) }
        return UserSummary(found)
    }

    /// The largest number of users whose ids begin with a text that are looked at.
    private static let mostNamed = 10

    /// Some users, in one query, ordered by address. Unknown ids are skipped.
    static func list(_ ids: some Sequence<UserID>, in transaction: any Transaction) throws -> [UserSummary] {
        let users = Array(try UserRepository(transaction).find(Array(ids)).values)
        return try list(users, in: transaction).sorted { $0.address < $1.address }
    }

    /// Users with their addresses. The providers are read in one statement.
    static func list(_ users: [User], in transaction: any Transaction) throws -> [UserSummary] {
        let slugs = try ProviderRepository(transaction).slugs(of: Array(Set(users.map(\.providerID))))
        return users.map { UserSummary($0, of: slugs[$0.providerID]) }
    }

    init(_ user: User, in transaction: any Transaction) throws {
        self.init(user, of: try ProviderRepository(transaction).slugs(of: [user.providerID])[user.providerID])
    }

    init(_ found: UserRepository.Addressed) { self.init(found.user, of: found.slug) }

    private init(_ user: User, of provider: Slug?) {
        self.user = user
        address = provider.map { "\($0.text)/\(user.externalID)" } ?? user.externalID
    }
}
