import Database
import Domain
import Foundation
import Repositories

/// Erasing a person: what is held is deleted, and the key under which it lay is destroyed, so that copies of the store
/// hold nothing readable either. All in one transaction with the end of the user's sessions. Of bans, what those in force
/// look for stays until they are over.
struct EraseUser: Sendable {
    let keys: PersonalKeys

    /// Erases.
    func callAsFunction(
        _ user: UserID, actor: String, reason: AuditReason, auditID: UUID, in transaction: any Transaction
    )
        throws
    {
        let now = transaction.now
        try BanUpkeep(transaction).erase(try BlindSubjects(keys: keys).person(user, in: transaction))
        try AuthenticatedUserRecords(transaction, keys: keys).erase(user)
        try IdentityCardRecords(transaction).erase(user)
        try PhoneVerificationRecords(transaction).erase(user)
        try OutboxRecords(transaction).erase(user)
        try AuthorizationRecords(transaction).erase(user, at: now)
        try BlockRecords(transaction).erase(user)
        try UserRecords(transaction).erase(user)
        try DataKeyRecords(transaction, keys: keys).erase(user, at: now)
        try SessionRecords(transaction).end(.user(user), at: now, reason: "the user was erased")
        if let provider = try UserRecords(transaction).find(user)?.providerID {
            try ProviderWebhookRecords(transaction).tell(.accountPurged, of: user, to: provider)
        }
        try AuditRecords(transaction).append(
            .userErased, subject: "user \(user)", actor: actor, reason: reason, id: auditID)
        try ChangeRecords(transaction).announce(.user(user))
    }
}
