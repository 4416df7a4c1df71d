import Database
import Domain
import Foundation
import Repositories

/// Erases a user. The stored data and its data key are deleted, so that copies of the store become unreadable too. The
/// user's sessions end in the same transaction. Indexes that active bans need stay until those end.
///
/// Data that only the user writes, and that the policy limits, is deleted here. Shared data is hidden here, and may be
/// deleted later, like messages to send: see ``EraseRest``. Those to the user are not sent, because the
/// endpoints, the data key and the verifications are deleted here. Earlier events for the provider have no personal data.
struct EraseUser: Sendable {
    let keys: PersonalKeys
    let actor: String
    let reason: AuditReason

    /// Erases a user.
    ///
    /// - Parameter receipt: the id of the audit entry.
    func callAsFunction(
        _ user: UserID, receipt: UUID, in transaction: any Transaction, _ events: inout RecordedEvents
    ) throws {
        let now = transaction.now
        try BanMaintenance(transaction).erase(try BanSubjectIndex(keys: keys).person(user, in: transaction))
        try AuthenticatedUserRepository(transaction, keys: keys).erase(user)
        try IdentityCardRepository(transaction).erase(user)
        try PresentationRepository(transaction).erase(user)
        try AgeProofRepository(transaction, keys: keys).erase(user)
        try PhoneVerificationRepository(transaction).erase(user)
        try PushEndpointRepository(transaction, keys: keys).erase(user)
        try BlockRepository(transaction).erase(user)
        try FindableAddressRepository(transaction).erase(user)
        try ForbiddenAppRepository(transaction).erase(user)
        try MessageStorageRepository(transaction).set(.keep, of: user, at: now)
        try EventSubjectRepository(transaction).erase(user)
        try PresenceRepository(transaction).erase(user)
        try UserRepository(transaction).erase(user)
        try DataKeyRepository(transaction, keys: keys).erase(user, at: now)
        try RevokeSessions(transaction: transaction)(.user(user), .userErased, &events)
        try EraseRest(transaction: transaction).begin(user, at: now, &events)
        let provider = try UserRepository(transaction).find(user)?.providerID
        events.record(.userErased(user, of: provider, receipt: receipt), by: actor, because: reason)
    }
}
