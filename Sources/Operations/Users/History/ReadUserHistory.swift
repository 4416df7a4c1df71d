import Database
import Domain
import Encoding
import Foundation
import Repositories

/// The place where the next page of a history starts. The audit log is read in its own order, by number.
private struct UserHistoryCursor {
    let place: HistoryPlace
    /// The number of the last entry of the log that was shown; `nil` if none was.
    let sequence: Int64?

    static let start = UserHistoryCursor(place: .start, sequence: nil)

    var text: String { "\(place.cursor).\(sequence ?? 0)" }

    init(place: HistoryPlace, sequence: Int64?) { (self.place, self.sequence) = (place, sequence) }

    /// Parses a cursor; `nil` is the first page.
    init(_ text: String?) throws(Refusal) {
        guard let text else {
            self = .start
            return
        }
        guard let dot = text.lastIndex(of: "."), let place = HistoryPlace(cursor: String(text[..<dot])),
            let number = Int64(text[text.index(after: dot)...]), number >= 0
        else { throw Refusal.unknownCursor }
        self.init(place: place, sequence: number == 0 ? nil : number)
    }
}

package extension Administration {
    /// A page of a user's history, newest event first, with facts that have no time. The user's permissions and requests
    /// are counted by state, of the newest thousand on each side. `onlyCounted` are the sign-ins of the provider's users in
    /// the time of the events that were not recorded one by one, because too many came from their networks. The user's own
    /// may be among them.
    typealias UserHistory = (
        summary: UserSummary, events: [UserEvent], permissions: [MessagingPermission.State: Int],
        onlyCounted: (accepted: Int, refused: Int)
    )

    /// A page of what happened to a user: sign-ins, sessions, certificates of the devices, proofs of numbers, cards,
    /// bans, and what the audit log has of the user.
    ///
    /// - Parameter cursor: the cursor of the last event on the previous page; `nil` for the first page.
    /// - Throws: `Refusal` `not_found` for a user; `malformed_request` for a cursor.
    func readHistory(of name: String, limit: Int, after cursor: String? = nil) async throws -> UserHistory {
        let start = try UserHistoryCursor(cursor)
        let rows = try await read(.support) { transaction in
            let summary = try UserSummary.find(name, in: transaction)
            // All but the certificates, which are those of the devices found here.
            try transaction.ahead { _ = try HistoryRows(of: summary, after: start.place, limit: limit, in: $0) }
            return try HistoryRows(of: summary, after: start.place, limit: limit, in: transaction)
        }
        return try await history(rows, after: start, limit: limit)
    }

    /// `readUserDetail(_:)` and `readHistory(of:limit:after:)` of one user, in one snapshot except for the audit log.
    func readUserWithHistory(
        _ name: String, limit: Int, after cursor: String? = nil
    ) async throws -> (detail: UserDetail, history: UserHistory) {
        let start = try UserHistoryCursor(cursor)
        let (detail, rows) = try await read(.support) { transaction in
            let summary = try UserSummary.find(name, in: transaction)
            try transaction.ahead {
                _ = try UserDetail(summary, in: $0)
                _ = try HistoryRows(of: summary, after: start.place, limit: limit, in: $0)
            }
            return (
                try UserDetail(summary, in: transaction),
                try HistoryRows(of: summary, after: start.place, limit: limit, in: transaction)
            )
        }
        return (detail, try await history(rows, after: start, limit: limit))
    }

    /// The events of tables and audit log together.
    private func history(
        _ rows: HistoryRows, after start: UserHistoryCursor, limit: Int
    ) async throws -> UserHistory {
        let user = rows.summary.user
        let audited = try await audited(user.id, after: start, limit: limit)
        var events = (rows.events + audited).sorted { $0.place.precedes($1.place) }
        events = Array(events.prefix(max(0, limit)))
        var sequence = start.sequence
        for index in events.indices {
            sequence = events[index].sequence ?? sequence
            events[index].cursor = UserHistoryCursor(place: events[index].place, sequence: sequence).text
        }
        let oldest = events.last?.at ?? environment.now()
        let counted = try await read(.support) {
            try SignInTallyRepository($0).counted(of: user.providerID, since: oldest)
        }
        return (rows.summary, events, rows.permissions, counted)
    }

    /// The entries of the audit log after a place, newest first.
    private func audited(
        _ user: UserID, after start: UserHistoryCursor, limit: Int
    ) async throws -> [UserEvent] {
        let filter = try ReadAudit.Filter(subject: "\(AuditSubject(.user, user))")
        // Entries without a number that earlier pages have shown come first again.
        let shown = start.sequence == nil && start.place != .start ? Int(ReadAudit.window) : 0
        let found = try await ReadAudit(store: store).search(
            filter, before: start.sequence, count: limit + shown
        ).reversed()
        // Without a number the search begins again at the newest entry.
        let newest = start.sequence == nil ? UserHistoryCursor.start.place.at : start.place.at
        var (events, latest) = ([UserEvent](), newest)
        for entry in found {
            let event = UserEvent(entry, notAfter: latest)
            // If no entry with a number was shown, the place decides which entries were shown.
            guard start.sequence != nil || start.place.precedes(event.place) else { continue }
            events.append(event)
            latest = event.at
        }
        return events
    }
}
