import Database
import Domain
import Encoding
import Foundation

/// The audit entries, written in the transaction of the audited action.
package struct AuditRepository {
    private let transaction: any Transaction

    /// Number and digest are written when an entry is chained.
    static let columns = Table<AuditEntry>(
        "audit_entries", AuditEntry.init,
        Field("id", \.id),
        Field("at", \.milliseconds),
        Field("event", \.event),
        Field("subject", \.subject),
        Field("actor", \.actor),
        Field("detail", \.detail),
        Field("reason", \.reason))
}

package extension AuditRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// The audited actions, by their stored names.
    enum Event: String, Sendable, CaseIterable {
        case certificateIssued = "certificate_issued"
        case certificateRevoked = "certificate_revoked"
        case certificateSuperseded = "certificate_superseded"
        case deviceDistrusted = "device_distrusted"
        case providerAdded = "provider_added"
        case providerDisabled = "provider_disabled"
        case providerEnabled = "provider_enabled"
        case providerChanged = "provider_changed"
        case providerKeyAdded = "provider_key_added"
        case providerKeyRetired = "provider_key_retired"
        case providerKeyRevoked = "provider_key_revoked"
        case applicationAdded = "application_added"
        case bindingMismatch = "binding_mismatch"
        case sessionEnded = "session_ended"
        case sessionChallenged = "session_challenged"
        case appForbidden = "app_forbidden"
        case appAllowed = "app_allowed"
        case phoneVerified = "phone_verified"
        case phoneReassigned = "phone_reassigned"
        case identityVerified = "identity_verified"
        case cardInReview = "card_in_review"
        case cardRejected = "card_rejected"
        case cardDecided = "card_decided"
        case cardDecisionUndone = "card_decision_undone"
        case cardDecisionDropped = "card_decision_dropped"
        case ageProven = "age_proven"
        case presentationRefused = "presentation_refused"
        case issuerListStored = "issuer_list_stored"
        case personalDataRead = "personal_data_read"
        case userErased = "user_erased"
        case phoneFrozen = "phone_frozen"
        case phoneSendsStopped = "phone_sends_stopped"
        case phoneSendsResumed = "phone_sends_resumed"
        case outboxMessageDied = "outbox_message_died"
        case outboxMessageRetried = "outbox_message_retried"
        case outboxMessageDropped = "outbox_message_dropped"
        case wrappingKeyRotated = "wrapping_key_rotated"
        case wrappingKeysRemoved = "wrapping_keys_removed"
        case usersArchived = "users_archived"
        case storeRestored = "store_restored"
        case storeMoved = "store_moved"
        case webhookSet = "webhook_set"
        case webhookRemoved = "webhook_removed"
        case eventStreamSet = "event_stream_set"
        case eventStreamRemoved = "event_stream_removed"
        case eventSubjectAdded = "event_subject_added"
        case eventSubjectRemoved = "event_subject_removed"
        case eventStreamApproved = "event_stream_approved"
        case eventStreamDisabled = "event_stream_disabled"
        case banAdded = "ban_added"
        case banLifted = "ban_lifted"
        case banEvaded = "ban_evaded"
        case administratorAdded = "administrator_added"
        case administratorRemoved = "administrator_removed"
        case administratorRenewed = "administrator_renewed"
        case actRequested = "act_requested"
        case actConfirmed = "act_confirmed"
        case actUrgent = "act_urgent"
    }

    /// Appends an entry. It is chained within a second of the commit: see ``AuditChainRepository``.
    ///
    /// - Parameters:
    ///   - subject: what it is about.
    ///   - actor: `device <id>`, `provider <id>`, `user <id>`, `admin <operating system user>` or `service`.
    ///   - detail: further ids, never a name, number or address either.
    ///   - reason: the reason, if the event does not imply it.
    func append(
        _ event: Event, subject: AuditSubject, actor: String, detail: String? = nil, reason: AuditReason? = nil,
        id: UUID
    ) throws {
        let entry = AuditEntry(
            id: Identifier<AuditRepository>(id).description, milliseconds: transaction.now.milliseconds,
            event: event.rawValue, subject: subject.description, actor: actor, detail: detail, reason: reason?.text)
        try transaction.enqueue(Self.columns.insertion, Self.columns.row(entry))
    }

    /// The time of the newest entry, among unchained entries and the last chained one; `nil` if there is none.
    func newest() throws -> Date? {
        let waiting = try transaction.value(
            "SELECT MAX(at) FROM audit_entries WHERE sequence IS NULL", as: Date?.self)
        let chained: Date? = try transaction.value(
            "SELECT at FROM audit_entries WHERE sequence IS NOT NULL ORDER BY sequence DESC LIMIT 1")
        return [waiting ?? nil, chained].compactMap(\.self).max()
    }
}
