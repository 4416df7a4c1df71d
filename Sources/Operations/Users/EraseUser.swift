import Database
import Domain
import Foundation
import Repositories

/// Erasing a person: what is held is deleted, and the key under which it lay is destroyed, so that copies of the store
/// hold nothing readable either. All in one transaction with the end of the user's sessions. Of bans, what those in force
/// look for stays until they are over.
struct EraseUser: Sendable {
    let keys: PersonalKeys

    func callAsFunction(
        _ user: UserID, actor: String, reason: AuditReason, auditID: UUID, in transaction: any Transaction
    )
        throws
    {
        let now = transaction.now
        try BanMaintenance(transaction).erase(try BanSubjectIndex(keys: keys).person(user, in: transaction))
        try AuthenticatedUserRepository(transaction, keys: keys).erase(user)
        try IdentityCardRepository(transaction).erase(user)
        try PhoneVerificationRepository(transaction).erase(user)
        try OutboxRepository(transaction).erase(user)
        try AuthorizationRepository(transaction).erase(user, at: now)
        try BlockRepository(transaction).erase(user)
        try UserRepository(transaction).erase(user)
        try DataKeyRepository(transaction, keys: keys).erase(user, at: now)
        try SessionRepository(transaction).end(.user(user), at: now, reason: "the user was erased")
        if let provider = try UserRepository(transaction).find(user)?.providerID {
            try ProviderWebhookRepository(transaction).tell(.accountPurged, of: user, to: provider)
        }
        try AuditRepository(transaction).append(
            .userErased, subject: "user \(user)", actor: actor, reason: reason, id: auditID)
        try ChangeLog(transaction).announce(.user(user))
    }
}
