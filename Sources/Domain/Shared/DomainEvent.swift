import Encoding
import Foundation

/// A change that others must learn of: the audit log, the nodes' caches, connections, providers.
///
/// An operation records it in the transaction of the change. One place decides what follows from it.
package enum DomainEvent: Sendable {
    // Sessions
    case sessionOpened(Session)
    /// The session has a new token; the replaced one is no longer accepted.
    case sessionRenewed(Session, replacing: Digest256)
    case sessionEnded(EndedSession, SessionEnding)
    /// All sessions that hang on something are over. Of these the rows say so; of the others they will, if it is not
    /// whole.
    case sessionsRevoked(RevocationScope, [EndedSession], SessionEnding, isWhole: Bool)
    /// The rows of sessions that a cut had ended say so now.
    case sessionsEndedInBatch([EndedSession])
    /// The rows of all of them do.
    case bulkRevocationEnded(BulkRevocation)
    case sessionChallenged(Session)
    /// A session's token was used under another device's certificate; the session is challenged.
    case bindingMismatched(Session)
    case userChallenged(UserID)

    // Certificates and devices
    /// A handshake showed the certificate for the first time.
    case certificateSeen(DeviceID)
    case certificateSuperseded(String, by: String, DeviceID)
    case certificateRevoked(String, DeviceID, detail: String?)
    /// The certificate of a device was revoked on which a user had a session.
    case userCertificateRevoked(serial: String, UserID, of: ProviderID)

    // Providers
    case providerAdded(ProviderID, ProviderKeyID, ApplicationID)
    case providerDisabled(ProviderID)
    case providerEnabled(ProviderID)
    /// A setting of the provider has another value, which the text names.
    case providerChanged(ProviderID, detail: String)
    case applicationAdded(ApplicationID, ProviderID)
    /// The signer is the provider's key that signed the request; `nil` if an admin added the key.
    case providerKeyAdded(ProviderKeyID, ProviderID, signer: ProviderKeyID?)
    case providerKeyRetired(ProviderKeyID, ProviderID)
    case providerKeyRevoked(ProviderKeyID, ProviderID, detail: String)

    // Users
    case assuranceChanged(AssuranceChange)
    /// The user's proven number now belongs to another user.
    case phoneReassigned(from: UserID)
    /// The receipt names the audit entry; the provider is `nil` if the user is not known any more.
    case userErased(UserID, of: ProviderID?, receipt: UUID)

    // Bans
    /// A user may not sign in any more.
    case userBanned(UserID, of: ProviderID?)
    /// A user may sign in again.
    case userUnbanned(UserID, of: ProviderID)
    case deviceBanned(DeviceID)
    case deviceUnbanned(DeviceID)

    /// The outbox has a new message.
    case messageQueued
    /// An event waits in a stream, or may leave it now.
    case eventsWait(in: EventStreamID)
    /// Something that these users follow has changed: a stream of messages, or what belongs to one.
    case messagesChanged(of: [UserID])
    /// A member of a stream is writing, which these others may see at this moment. It is kept nowhere.
    case typing(in: MessageStreamID, by: UserID, to: [UserID])
}
