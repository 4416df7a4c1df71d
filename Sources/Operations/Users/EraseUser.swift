import Database
import Domain
import Foundation
import Repositories

/// Erasing a person: what is held is deleted, and the key under which it lay is destroyed, so that copies of the store
/// hold nothing readable either. All in one transaction with the end of the user's sessions. Of bans, what those in force
/// look for stays until they are over.
struct EraseUser: Sendable {
    let keys: PersonalKeys
    let actor: String
    let reason: AuditReason

    /// Erases.
    ///
    /// - Parameter receipt: names the audit entry.
    func callAsFunction(
        _ user: UserID, receipt: UUID, in transaction: any Transaction, _ events: inout RecordedEvents
    ) throws {
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
        let ended = try SessionRepository(transaction).end(.user(user), at: now, .userErased)
        events.record(.sessionsEnded(ended, of: .user(user), .userErased))
        let provider = try UserRepository(transaction).find(user)?.providerID
        events.record(.userErased(user, of: provider, receipt: receipt), by: actor, because: reason)
    }
}
