import Domain
import Encoding
import Foundation
import Repositories

/// An act and its form in the audit log: ids and codes, no personal data. The actor and the reason are recorded with
/// it.
struct AuditedAct: Sendable {
    let event: AuditRepository.Event
    let subject: AuditSubject
    let detail: String?
    /// The entry's id, if it is returned to a caller.
    let id: UUID?

    init(_ event: AuditRepository.Event, _ subject: AuditSubject, _ detail: String? = nil, id: UUID? = nil) {
        (self.event, self.subject, self.detail, self.id) = (event, subject, detail, id)
    }
}

/// Acts without other consequences. Those with consequences are in ``Consequence``.
extension AuditedAct {
    static func certificateIssued(serial: String, _ attestation: DeviceAttestation.Level) -> Self {
        Self(
            .certificateIssued, AuditSubject(.certificate, serial),
            attestation == .unattested ? nil : "attested as \(attestation.rawValue)")
    }

    static func webhookSet(_ id: ProviderID, by key: ProviderKeyID) -> Self {
        Self(.webhookSet, AuditSubject(.provider, id), "signed by key \(key)")
    }

    /// The key is `nil` if the receiver answered that it is gone.
    static func webhookRemoved(_ id: ProviderID, by key: ProviderKeyID?) -> Self {
        Self(
            .webhookRemoved, AuditSubject(.provider, id), key.map { "signed by key \($0)" } ?? "the receiver is gone")
    }

    static func eventStreamSet(_ id: EventStreamID, _ provider: ProviderID) -> Self {
        Self(.eventStreamSet, AuditSubject(.stream, id), "provider \(provider)")
    }

    static func eventStreamRemoved(_ id: EventStreamID, _ provider: ProviderID) -> Self {
        Self(.eventStreamRemoved, AuditSubject(.stream, id), "provider \(provider)")
    }

    /// The stream's receiver includes the events of a user again.
    static func eventSubjectAdded(_ id: EventStreamID, _ user: UserID) -> Self {
        Self(.eventSubjectAdded, AuditSubject(.stream, id), "user \(user)")
    }

    /// The stream's receiver excludes the events of a user.
    static func eventSubjectRemoved(_ id: EventStreamID, _ user: UserID) -> Self {
        Self(.eventSubjectRemoved, AuditSubject(.stream, id), "user \(user)")
    }

    /// An operator approved the stream's push address.
    static func eventStreamApproved(_ id: EventStreamID, _ provider: ProviderID) -> Self {
        Self(.eventStreamApproved, AuditSubject(.stream, id), "provider \(provider)")
    }

    /// The stream contained more events than it may, or its receiver was inactive or is gone.
    static func eventStreamDisabled(_ id: EventStreamID, _ provider: ProviderID) -> Self {
        Self(.eventStreamDisabled, AuditSubject(.stream, id), "provider \(provider)")
    }

    static func appForbidden(_ app: ApplicationID, by user: UserID) -> Self {
        Self(.appForbidden, AuditSubject(.user, user), "app \(app)")
    }

    static func appAllowed(_ app: ApplicationID, by user: UserID) -> Self {
        Self(.appAllowed, AuditSubject(.user, user), "app \(app)")
    }

    static func phoneVerified(_ user: UserID) -> Self { Self(.phoneVerified, AuditSubject(.user, user)) }
    static func phoneFrozen(_ user: UserID) -> Self { Self(.phoneFrozen, AuditSubject(.user, user)) }

    /// - Parameter name: the name of a prefix, a network or a provider.
    static func phoneSendsStopped(name: String) -> Self {
        Self(.phoneSendsStopped, AuditSubject(scopeOfTexts: name), "thinned out")
    }

    static func phoneSendsResumed(name: String) -> Self { Self(.phoneSendsResumed, AuditSubject(scopeOfTexts: name)) }

    static func identityVerified(_ user: UserID, detail: String) -> Self {
        Self(.identityVerified, AuditSubject(.user, user), detail)
    }

    static func cardInReview(_ user: UserID, _ card: IdentityCardID) -> Self {
        Self(.cardInReview, AuditSubject(.user, user), "card \(card)")
    }

    static func cardRejected(_ user: UserID, detail: String) -> Self {
        Self(.cardRejected, AuditSubject(.user, user), detail)
    }

    /// A reviewer decided, and the decision takes effect later.
    static func cardDecided(_ user: UserID, _ card: IdentityCardID, _ status: CardStatus) -> Self {
        Self(.cardDecided, AuditSubject(.user, user), "card \(card), \(status.rawValue)")
    }

    static func cardDecisionUndone(_ user: UserID, _ card: IdentityCardID) -> Self {
        Self(.cardDecisionUndone, AuditSubject(.user, user), "card \(card)")
    }

    /// The decision could not take effect, and the card is in review again.
    static func cardDecisionDropped(_ user: UserID, _ card: IdentityCardID, because cause: Refusal) -> Self {
        Self(.cardDecisionDropped, AuditSubject(.user, user), "card \(card), \(cause.state ?? cause.code.rawValue)")
    }

    /// - Parameter reason: the code or reason of the response.
    static func presentationRefused(_ user: UserID, reason: String) -> Self {
        Self(.presentationRefused, AuditSubject(.user, user), reason)
    }

    /// The list of issuers of credentials was replaced by a newer one.
    static func issuerListStored(dated date: Date, issuers: Int) -> Self {
        Self(.issuerListStored, AuditSubject(.issuers, "vical"), "\(issuers.counting("issuer")), dated \(date.rfc3339)")
    }

    static func banAdded(subject: AuditSubject, detail: String) -> Self { Self(.banAdded, subject, detail) }
    static func banLifted(_ id: BanID) -> Self { Self(.banLifted, AuditSubject(.ban, id)) }

    static func banEvaded(_ user: UserID, _ ban: BanID, by kind: Ban.SubjectKind) -> Self {
        Self(.banEvaded, AuditSubject(.user, user), "ban \(ban), \(kind.rawValue)")
    }

    static func personalDataRead(subject: AuditSubject, detail: String?) -> Self {
        Self(.personalDataRead, subject, detail)
    }

    static func usersArchived(archive: String, detail: String) -> Self {
        Self(.usersArchived, AuditSubject(.archive, archive), detail)
    }

    /// An act waits for a second administrator.
    static func requested(_ act: WaitingAct, of subject: AuditSubject) -> Self {
        Self(.actRequested, subject, "\(act.kind.rawValue), act \(act.id), \(act.users.counting("user"))")
    }

    /// An act that needs a second administrator took effect at once.
    static func urgent(_ act: WaitingAct, of subject: AuditSubject) -> Self {
        Self(.actUrgent, subject, "\(act.kind.rawValue), act \(act.id), \(act.users.counting("user"))")
    }

    static func confirmed(_ act: WaitingAct, requestedBy name: String) -> Self {
        Self(
            .actConfirmed, AuditSubject(stored: act.subject),
            "\(act.kind.rawValue), act \(act.id), requested by \(name)")
    }

    static func messageDied(_ id: OutboxMessageID, detail: String?) -> Self {
        Self(.outboxMessageDied, AuditSubject(.message, id), detail)
    }

    static func messageRetried(_ id: OutboxMessageID) -> Self {
        Self(.outboxMessageRetried, AuditSubject(.message, id))
    }
    static func messageDropped(_ id: OutboxMessageID) -> Self {
        Self(.outboxMessageDropped, AuditSubject(.message, id))
    }

    static func wrappingKeyRotated(version: Int) -> Self {
        Self(.wrappingKeyRotated, AuditSubject(.wrappingKey, version))
    }

    static func wrappingKeysRemoved(inForce: Int, versions: String) -> Self {
        Self(.wrappingKeysRemoved, AuditSubject(.wrappingKey, inForce), "versions \(versions)")
    }
}
