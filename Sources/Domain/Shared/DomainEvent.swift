import Encoding
import Foundation

/// A change that other parts must learn of: the audit log, the nodes' caches, connections, providers.
///
/// An operation records it in the transaction of the change. One place decides what follows from it.
package enum DomainEvent: Sendable {
    // Sessions
    case sessionOpened(Session)
    /// The session has a new token; the replaced one is no longer accepted.
    case sessionRenewed(Session, replacing: Digest256)
    case sessionEnded(EndedSession, SessionEnding)
    /// All sessions of the scope have ended. The rows of these sessions are updated; if it is not whole, further rows
    /// will be.
    case sessionsRevoked(RevocationScope, [EndedSession], SessionEnding, isWhole: Bool)
    /// The rows of sessions that a bulk revocation ended were updated.
    case sessionsEndedInBatch([EndedSession])
    /// All rows of the bulk revocation were updated.
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
    /// A certificate in the chain of the device's attested key is on its maker's list of revoked ones.
    case deviceDistrusted(DeviceID, CertificationPolicy.RevokedAction)
    /// The attestation of a device on which a user had a session was revoked.
    case userAttestationRevoked(serial: String, UserID, of: ProviderID)
    /// A certificate was revoked on whose device a user had a session.
    case userCertificateRevoked(serial: String, UserID, of: ProviderID)

    // Providers
    case providerAdded(ProviderID, ProviderKeyID, ApplicationID)
    case providerDisabled(ProviderID)
    case providerEnabled(ProviderID)
    /// A setting of the provider changed; the text names it and its new value.
    case providerChanged(ProviderID, detail: String)
    case applicationAdded(ApplicationID, ProviderID)
    /// The signer is the provider's key that signed the request; `nil` if an admin added the key.
    case providerKeyAdded(ProviderKeyID, ProviderID, signer: ProviderKeyID?)
    case providerKeyRetired(ProviderKeyID, ProviderID)
    case providerKeyRevoked(ProviderKeyID, ProviderID, detail: String)

    // Users
    case assuranceChanged(Assurance.Change)
    /// The user's wallet proved an age.
    case ageProven(UserID, of: ProviderID, AgeProof)
    /// The user's proven number now belongs to another user.
    case phoneReassigned(from: UserID)
    /// The receipt names the audit entry. The provider is `nil` if the user is no longer known.
    case userErased(UserID, of: ProviderID?, receipt: UUID)

    // Bans
    /// A user may no longer sign in.
    case userBanned(UserID, of: ProviderID?)
    /// A user may sign in again.
    case userUnbanned(UserID, of: ProviderID)
    case deviceBanned(DeviceID)
    case deviceUnbanned(DeviceID)

    // Administrators
    case administratorAdded(Administrator)
    case administratorRemoved(Administrator)
    /// The administrator has a new certificate; the former ones are revoked.
    case administratorRenewed(Administrator)

    /// The outbox has a new message.
    case messageQueued
    /// An event was added to a stream, or an event that waits in it may now be sent.
    case eventsWait(in: EventStreamID)
    /// A stream of messages, or data that belongs to one, changed for these users.
    case messagesChanged(of: [UserID])
    /// A member of a stream is typing. The other users may be informed now; the event is not stored.
    case typing(in: MessageStreamID, by: UserID, to: [UserID])
    /// Users are online or offline now, or other users may see them than before.
    case presenceChanged(of: [UserID])
}
