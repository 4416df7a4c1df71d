import Database
import Domain
import Repositories

/// A user without personal data, for lists.
package struct UserSummary: Sendable {
    package let user: User
    /// `<provider slug>/<external id>`.
    package let address: String

    /// The user that an admin names by id or by address.
    ///
    /// - Throws: `Refusal` `not_found`.
    static func find(_ name: String, in transaction: any Transaction) throws -> UserSummary {
        let users = UserRepository(transaction)
        var found: User?
        if let id = UserID(name[...]) {
            found = try users.find(id)
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

    init(_ user: User, in transaction: any Transaction) throws {
        self.user = user
        address =
            try ProviderRepository(transaction).find(user.providerID)?.address(of: user.externalID) ?? user.externalID
    }
}
