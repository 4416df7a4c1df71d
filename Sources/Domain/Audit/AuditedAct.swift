/// An act that is audited and has no other consequence. Details are ids and codes, no personal data.
package enum AuditedAct: Sendable {
    case certificateIssued(serial: String)
    case webhookSet(ProviderID, by: ProviderKeyID)
    /// The key is `nil` if the receiver said that it is gone.
    case webhookRemoved(ProviderID, by: ProviderKeyID?)
    case eventStreamSet(EventStreamID, ProviderID)
    case eventStreamRemoved(EventStreamID, ProviderID)
    /// Its receiver wants the events of a user again.
    case eventSubjectAdded(EventStreamID, UserID)
    /// Its receiver wants no events of a user.
    case eventSubjectRemoved(EventStreamID, UserID)
    /// An operator approved its push address.
    case eventStreamApproved(EventStreamID, ProviderID)
    /// It held more events than it may, or its receiver was inactive or is gone.
    case eventStreamDisabled(EventStreamID, ProviderID)
    case phoneVerified(UserID)
    case phoneFrozen(UserID)
    /// `name` is that of a prefix, a network or a provider.
    case phoneSendsStopped(name: String)
    case phoneSendsResumed(name: String)
    case identityVerified(UserID, detail: String)
    case cardInReview(UserID, IdentityCardID)
    case cardRejected(UserID, detail: String)
    case banAdded(subject: AuditSubject, detail: String)
    case banLifted(BanID)
    case banEvaded(UserID, BanID, by: BanSubjectKind)
    case personalDataRead(subject: AuditSubject, detail: String?)
    case usersArchived(archive: String, detail: String)
    case messageDied(OutboxMessageID, detail: String?)
    case messageRetried(OutboxMessageID)
    case messageDropped(OutboxMessageID)
    case wrappingKeyRotated(version: Int)
    case wrappingKeysRemoved(inForce: Int, versions: String)
}
