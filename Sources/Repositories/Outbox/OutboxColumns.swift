import Database
import Domain
import Foundation

/// The columns of `outbox`. The lease and the end are written by the statements that lease and settle.
struct OutboxColumns: ColumnSet {
    let id: Column<OutboxMessageID>
    let kind: Column<OutboxKind>
    let owner: Column<OutboxOwner>
    let subject: Column<String>
    let userID: Column<UserID>
    let deduplicationKey: Column<String>
    let payload: Column<[UInt8]>
    let createdAt: Column<Date>
    let expiresAt: Column<Date>
    let dueAt: Column<Date>
    let tries: Column<Int>
    let state: Column<OutboxState>
    let reason: Column<String?>

    init(_ list: inout ColumnList) {
        id = list.add("id")
        kind = list.add("kind")
        owner = list.add("owner")
        subject = list.add("subject")
        userID = list.add("user_id")
        deduplicationKey = list.add("deduplication_key")
        payload = list.add(.outboxPayload)
        createdAt = list.add("created_at")
        expiresAt = list.add("expires_at")
        dueAt = list.add("due_at")
        tries = list.add("tries")
        state = list.add("state")
        reason = list.add("reason")
    }

    func message(_ row: Row) throws -> OutboxMessage {
        OutboxMessage(
            id: try row[id], kind: try row[kind], owner: try row[owner], subject: try row[subject],
            userID: try row[userID], deduplicationKey: try row[deduplicationKey], payload: try row[payload],
            createdAt: try row[createdAt],
            expiresAt: try row[expiresAt], dueAt: try row[dueAt], tries: try row[tries], state: try row[state],
            reason: try row[reason])
    }

    func write(_ message: OutboxMessage, to row: inout NewRow) {
        row.set(id, message.id)
        row.set(kind, message.kind)
        row.set(owner, message.owner)
        row.set(subject, message.subject)
        row.set(userID, message.userID)
        row.set(deduplicationKey, message.deduplicationKey)
        row.set(payload, message.payload)
        row.set(createdAt, message.createdAt)
        row.set(expiresAt, message.expiresAt)
        row.set(dueAt, message.dueAt)
        row.set(tries, message.tries)
        row.set(state, message.state)
        row.set(reason, message.reason)
    }
}
