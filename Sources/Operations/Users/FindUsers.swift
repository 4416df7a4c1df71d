import Cards
import Database
import Domain
import PhoneNumbers
import Repositories

extension Administration.UserTrait: Confidential {}

package extension Administration {
    /// A trait by which an admin finds a user.
    enum UserTrait: Sendable {
        /// A number that the user has proven.
        case phone(PhoneNumber)
        /// A document that the user has shown, with a verified card.
        case document(DocumentName)

        fileprivate var target: BanTarget {
            switch self {
            case .phone(let number): .phone(number)
            case .document(let name): .document(name)
            }
        }
    }

    /// The newest users, without personal data.
    ///
    /// - Parameter cursor: the id of the last user on the previous page.
    /// - Throws: `Refusal` `not_found` for a cursor that no longer exists.
    func listUsers(limit: Int, after cursor: String? = nil) async throws -> [UserSummary] {
        try await read(.support) { transaction in
            try UserSummary.list(try UserRepository(transaction).list(limit: limit, after: cursor), in: transaction)
        }
    }

    /// Finds a user by id, or by `<provider slug>/<external id>`.
    ///
    /// - Throws: `Refusal` `not_found`.
    func readUser(_ name: String) async throws -> UserSummary {
        try await read(.support) { try UserSummary.find(name, in: $0) }
    }

    /// The users with a name at their providers, of the first 50 providers by slug.
    ///
    /// - Parameter provider: the provider by slug or id; `nil` for all providers.
    /// - Throws: `Refusal` `not_found` for a provider.
    func findUsers(externalID: String, of provider: String?) async throws -> [UserSummary] {
        try await read(.support) { transaction in
            let users = UserRepository(transaction)
            guard let provider else {
                return try users.addressed(externalID: externalID, limit: 50).map(UserSummary.init)
            }
            let slug = try ProviderRepository(transaction).require(provider).slug
            return try [users.addressed(slug: slug, externalID: externalID)].compactMap(\.self).map(UserSummary.init)
        }
    }

    /// The users of any provider who have proven a trait. A number's holder is personal data, so the access is audited.
    ///
    /// - Parameter reason: the admin's reason, which is stored in the audit log.
    func findUsers(_ trait: UserTrait, reason: AuditReason) async throws -> [UserSummary] {
        let keys = try personalKeys()
        return try await read(
            lookingFor: trait.target, because: reason, revealing: { $0.map { AuditSubject(.user, $0.user.id) } },
            { transaction, _ in
                let holders =
                    switch trait {
                    case .phone(let number):
                        try AuthenticatedUserRepository(transaction, keys: keys)
                            .holders(ofNumber: keys.phoneIndexes(number.e164))
                    case .document(let name):
                        try IdentityCardRepository(transaction).holders(ofDocument: keys.indexes(of: name))
                    }
                return try UserSummary.list(Set(holders), in: transaction)
            })
    }
}
