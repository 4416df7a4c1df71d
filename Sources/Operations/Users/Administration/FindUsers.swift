import Cards
import Database
import Domain
import PhoneNumbers
import Repositories

/// Users by what an admin knows of them, without personal data.
package struct FindUsers: Sendable {
    private let context: AdminContext
    private let keys: PersonalKeys

    package init(_ context: AdminContext, keys: PersonalKeys) {
        self.context = context
        self.keys = keys
    }

    /// What a person is looked for by.
    package enum Trait: Sendable {
        /// A number that the user has proven.
        case phone(PhoneNumber)
        /// A document that the user has shown, and that counts.
        case document(DocumentName)

        fileprivate var word: String {
            switch self {
            case .phone: "number"
            case .document: "document"
            }
        }
    }

    /// The users whom providers know by a name of theirs.
    ///
    /// - Parameter provider: whose name it is, by slug or id; `nil` for any provider's.
    /// - Throws: `Refusal` `not_found` for a provider.
    package func callAsFunction(externalID: String, of provider: String?) async throws -> [UserSummary] {
        try await context.store.snapshot { transaction in
            let records = ProviderRepository(transaction)
            let providers = try provider.map { [try records.require($0)] } ?? records.list()
            let users = UserRepository(transaction)
            return try providers.compactMap { try users.find(providerID: $0.id, externalID: externalID) }
                .map { try UserSummary($0, in: transaction) }
        }
    }

    /// The users of any provider who have proven a trait. Who has which number is personal data: the look is audited.
    ///
    /// - Parameter reason: why the admin asks; stored in the audit log.
    package func callAsFunction(_ trait: Trait, reason: AuditReason) async throws -> [UserSummary] {
        let (actor, keys) = (context.actor, keys)
        return try await context.commit { transaction, events in
            let holders: [UserID]
            switch trait {
            case .phone(let number):
                holders = try AuthenticatedUserRepository(transaction, keys: keys)
                    .holders(ofNumber: keys.phoneIndexes(number.e164))
            case .document(let name):
                holders = try IdentityCardRepository(transaction)
                    .holders(ofDocument: name.fingerprints.flatMap { keys.blindIndexes($0, .document) })
            }
            let found = try Set(holders).sorted { $0.description < $1.description }
                .map { try UserSummary.find($0.description, in: transaction) }
            let subjects =
                found.isEmpty
                ? [AuditSubject(.users, "none")] : found.map { AuditSubject(.user, $0.user.id) }
            for subject in subjects {
                events.record(
                    .personalDataRead(subject: subject, detail: "found by \(trait.word)"), by: actor, because: reason)
            }
            return found
        }
    }
}

extension FindUsers.Trait: Confidential {}
