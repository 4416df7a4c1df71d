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
        var found: User?
        let typed = TypedID<Kind.User>(name)
        if typed.range != nil {
            found = try users.find(typed.resolve(in: transaction))
        } else if let slash = name.firstIndex(of: "/"), let slug = Slug(String(name[..<slash])),
            let provider = try ProviderRepository(transaction).find(slug)
        {
            found = try users.find(providerID: provider.id, externalID: String(name[name.index(after: slash)...]))
        }
        guard let user = found else {
            throw Refusal.noUser(named: name)
        }
        return try UserSummary(user, in: transaction)
    }

    /// Some users, in one query, ordered by address. Unknown ids are skipped.
    static func list(_ ids: some Sequence<UserID>, in transaction: any Transaction) throws -> [UserSummary] {
        let users = Array(try UserRepository(transaction).find(Array(ids)).values)
        return try list(users, in: transaction).sorted { $0.address < $1.address }
    }

    /// Users with their addresses. Each provider is read only once.
    static func list(_ users: [User], in transaction: any Transaction) throws -> [UserSummary] {
        let providers = ProviderRepository(transaction)
        var known: [ProviderID: Provider] = [:]
        for id in Set(users.map(\.providerID)) { known[id] = try providers.find(id) }
        return users.map { UserSummary($0, of: known[$0.providerID]) }
    }

    init(_ user: User, in transaction: any Transaction) throws {
        self.init(user, of: try ProviderRepository(transaction).find(user.providerID))
    }

    private init(_ user: User, of provider: Provider?) {
        self.user = user
        address = provider?.address(of: user.externalID) ?? user.externalID
    }
}
