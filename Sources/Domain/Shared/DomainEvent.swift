import Encoding
import Foundation

/// What an operation has changed, and others must learn of: the audit log, the nodes' memories, connections, providers.
///
/// An operation records it in the transaction that changes it. What follows from it is decided in one place.
package enum DomainEvent: Sendable {
    // Sessions
    case sessionOpened(Session)
    /// It has another token; nothing may go by the one before it.
    case sessionRenewed(Session, replacing: Digest256)
    case sessionEnded(EndedSession, SessionEnding)
    /// All sessions in a scope that were not ended yet.
    case sessionsEnded([EndedSession], of: SessionScope, SessionEnding)
    case sessionChallenged(Session)
    /// A session's token was shown under another device's certificate; the session is challenged.
    case bindingMismatched(Session)
    case userChallenged(UserID)

    // Certificates and devices
    /// A handshake has shown the certificate for the first time.
    case certificateSeen(DeviceID)
    case certificateSuperseded(String, by: String, DeviceID)
    case certificateRevoked(String, DeviceID, detail: String?)

    // Providers
    case providerAdded(ProviderID, ProviderKeyID, ApplicationID)
    case providerDisabled(ProviderID, sessionsEnded: Int)
    case providerEnabled(ProviderID)
    case applicationAdded(ApplicationID, ProviderID)
    /// The signer is the provider's key that asked for it; `nil` where an admin did.
    case providerKeyAdded(ProviderKeyID, ProviderID, signer: ProviderKeyID?)
    case providerKeyRetired(ProviderKeyID, ProviderID)
    case providerKeyRevoked(ProviderKeyID, ProviderID, detail: String)

    // Users
    case assuranceChanged(AssuranceChange)
    /// The number that the loser had proved is another user's now.
    case phoneReassigned(from: UserID)
    /// The receipt names the audit entry; the provider is `nil` where the user is not known any more.
    case userErased(UserID, of: ProviderID?, receipt: UUID)

    // Bans
    /// A user may not sign in any more.
    case userBanned(UserID, of: ProviderID?)
    /// A user may sign in again.
    case userUnbanned(UserID, of: ProviderID)
    case deviceBanned(DeviceID)
    case deviceUnbanned(DeviceID)

    /// There is something to send.
    case messageQueued
    /// What is only written down.
    case acted(AuditedAct)
}
