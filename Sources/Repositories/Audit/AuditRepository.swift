import Database
import Domain
import Encoding
import Foundation

/// The audit entries, written in the transaction of the audited act.
package struct AuditRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// The audited acts, by their stored names.
    package enum Event: String, Sendable, CaseIterable {
        case certificateIssued = "certificate_issued"
        case certificateRevoked = "certificate_revoked"
        case certificateSuperseded = "certificate_superseded"
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
        case eventStreamSet = "event_stream_set"
        case eventStreamRemoved = "event_stream_removed"
        case eventSubjectAdded = "event_subject_added"
        case eventSubjectRemoved = "event_subject_removed"
        case eventStreamApproved = "event_stream_approved"
        case eventStreamDisabled = "event_stream_disabled"
        case banAdded = "ban_added"
        case banLifted = "ban_lifted"
        case banEvaded = "ban_evaded"
    }

    private static let columns = Selection(AuditColumns.self)
    private static let insertion = "INSERT INTO audit_entries (\(columns.all)) VALUES (\(columns.placeholders))"

    /// Appends an entry. It is chained within a second of the commit: see ``AuditChainRepository``.
    ///
    /// - Parameters:
    ///   - subject: what it is about.
    ///   - actor: `device <id>`, `provider <id>`, `user <id>`, `admin <operating system user>` or `service`.
    ///   - detail: further ids, never a name, number or address either.
    ///   - reason: why, if the event does not say it.
    package func append(
        _ event: Event, subject: AuditSubject, actor: String, detail: String? = nil, reason: AuditReason? = nil,
        id: UUID
    ) throws {
        let entry = AuditEntry(
            id: Identifier<AuditRepository>(id).description, milliseconds: transaction.now.milliseconds,
            event: event.rawValue, subject: subject.description, actor: actor, detail: detail, reason: reason?.text)
        try transaction.enqueue(Self.insertion, Self.columns.row { $0.write(entry, to: &$1) })
    }

    /// When the newest entry was written, of those that wait for a number and the last one with one; `nil` if there is
    /// none.
    package func newest() throws -> Date? {
        let waiting = try transaction.value(
            "SELECT MAX(at) FROM audit_entries WHERE sequence IS NULL", as: Date?.self)
        let chained: Date? = try transaction.value(
            "SELECT at FROM audit_entries WHERE sequence IS NOT NULL ORDER BY sequence DESC LIMIT 1")
        return [waiting ?? nil, chained].compactMap(\.self).max()
    }
}

/// The columns of `audit_entries`. Number and digest are written when an entry is chained.
struct AuditColumns: ColumnSet {
    let id: Column<String>
    let at: Column<Int64>
    let event: Column<String>
    let subject: Column<String>
    let actor: Column<String>
    let detail: Column<String?>
    let reason: Column<String?>

    init(_ list: inout ColumnList) {
        id = list.add("id")
        at = list.add("at")
        event = list.add("event")
        subject = list.add("subject")
        actor = list.add("actor")
        detail = list.add("detail")
        reason = list.add("reason")
    }

    func entry(_ row: Row) throws -> AuditEntry {
        AuditEntry(
            id: try row[id], milliseconds: try row[at], event: try row[event], subject: try row[subject],
            actor: try row[actor], detail: try row[detail], reason: try row[reason])
    }

    func write(_ entry: AuditEntry, to row: inout NewRow) {
        row.set(id, entry.id)
        row.set(at, entry.milliseconds)
        row.set(event, entry.event)
        row.set(subject, entry.subject)
        row.set(actor, entry.actor)
        row.set(detail, entry.detail)
        row.set(reason, entry.reason)
    }
}
