import Database
import Domain
import Foundation

/// What was done by whom, written in the transaction that does it.
package struct AuditRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// The acts that are kept.
    package enum Event: String, Sendable {
        case certificateIssued = "certificate_issued"
        case certificateRevoked = "certificate_revoked"
        case certificateSuperseded = "certificate_superseded"
        case providerAdded = "provider_added"
        case providerDisabled = "provider_disabled"
        case providerEnabled = "provider_enabled"
        case providerKeyAdded = "provider_key_added"
        case providerKeyRetired = "provider_key_retired"
        case providerKeyRevoked = "provider_key_revoked"
        case applicationAdded = "application_added"
        case bindingMismatch = "binding_mismatch"
        case sessionEnded = "session_ended"
        case sessionChallenged = "session_challenged"
        case phoneVerified = "phone_verified"
        case phoneReassigned = "phone_reassigned"
        case identityVerified = "identity_verified"
        case cardInReview = "card_in_review"
        case cardRejected = "card_rejected"
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
        case banAdded = "ban_added"
        case banLifted = "ban_lifted"
        case banEvaded = "ban_evaded"
    }

    /// Appends an entry. It gets its place in the chain within a second of the commit: see ``AuditChainRepository``.
    ///
    /// - Parameters:
    ///   - subject: an id, never a name, number or address.
    ///   - actor: `device <id>`, `provider <id>`, `user <id>`, `admin <operating system user>` or `service`.
    ///   - detail: further ids, never a name, number or address either.
    ///   - reason: why, where that is not in the event.
    package func append(
        _ event: Event, subject: String, actor: String, detail: String? = nil, reason: AuditReason? = nil, id: UUID
    ) throws {
        try transaction.enqueue(
            """
            INSERT INTO audit_entries (id, at, event, subject, actor, detail, reason)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            """,
            [
                .text(Identifier<AuditRepository>(id).description), .time(transaction.now), .text(event.rawValue),
                .text(subject), .text(actor), .optional(detail), .optional(reason?.text),
            ])
    }
}
