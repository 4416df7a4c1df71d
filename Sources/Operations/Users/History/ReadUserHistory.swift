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
    /// are counted by state, of the newest ``mostPermissions`` on each side. `onlyCounted` are the sign-ins of the
    /// provider's users in the time of the events that were not recorded one by one, because too many came from their
    /// networks. The user's own may be among them.
    typealias UserHistory = (
        summary: UserSummary, events: [UserEvent], permissions: [MessagingPermission.State: Int],
        onlyCounted: (accepted: Int, refused: Int)
    )

    /// The number of permissions that a history counts at most, on each side.
    static var mostPermissions: Int { HistoryRows.permissionsCounted }

    /// A page of what happened to a user: sign-ins, sessions, certificates of the devices, proofs of numbers, cards,
    /// bans, and what the audit log has of the user.
    ///
    /// - Parameter cursor: the cursor of the last event on the previous page; `nil` for the first page.
    /// - Throws: `Refusal` `not_found` for a user; `malformed_request` for a cursor.
    func readHistory(of name: String, limit: Int, after cursor: String? = nil) async throws -> UserHistory {
        let start = try UserHistoryCursor(cursor)
        return try await read(.support) { transaction in
            let summary = try UserSummary.find(name, in: transaction)
            let page = try transaction.joined { try HistoryPage(of: summary, after: start, limit: limit, in: $0) }
            return try history(page, in: transaction)
        }
    }

    /// `readUserDetail(_:)` and `readHistory(of:limit:after:)` of one user, in one snapshot and three statements.
    func readUserWithHistory(
        _ name: String, limit: Int, after cursor: String? = nil
    ) async throws -> (detail: UserDetail, history: UserHistory) {
        let start = try UserHistoryCursor(cursor)
        return try await read(.support) { transaction in
            let summary = try UserSummary.find(name, in: transaction)
            let (detail, page) = try transaction.joined {
                (try UserDetail(summary, in: $0), try HistoryPage(of: summary, after: start, limit: limit, in: $0))
            }
            return (detail, try history(page, in: transaction))
        }
    }

    private func history(_ page: HistoryPage, in transaction: any Transaction) throws -> UserHistory {
        let (summary, events) = (page.rows.summary, page.events)
        let counted = try SignInTallyRepository(transaction).counted(
            of: summary.user.providerID, since: events.last?.at ?? environment.now())
        return (summary, events, page.rows.permissions, counted)
    }
}

/// A page of the events of tables and audit log together.
private struct HistoryPage {
    let rows: HistoryRows
    let events: [UserEvent]

    /// Reads by queries of which none depends on another.
    init(of summary: UserSummary, after start: UserHistoryCursor, limit: Int, in transaction: any Transaction) throws {
        rows = try HistoryRows(of: summary, after: start.place, limit: limit, in: transaction)
        let audited = try Self.audited(summary.user.id, after: start, limit: limit, in: transaction)
        var events = (rows.events + audited).sorted { $0.place.precedes($1.place) }
        events = Array(events.prefix(max(0, limit)))
        var sequence = start.sequence
        for index in events.indices {
            sequence = events[index].sequence ?? sequence
            events[index].cursor = UserHistoryCursor(place: events[index].place, sequence: sequence).text
        }
        self.events = events
    }

    /// The entries of the audit log after a place, newest first.
    private static func audited(
        _ user: UserID, after start: UserHistoryCursor, limit: Int, in transaction: any Transaction
    ) throws -> [UserEvent] {
        // Entries without a number that earlier pages have shown come first again.
        let shown = start.sequence == nil && start.place != .start ? Int(ReadAudit.window) : 0
        let found = try ReadAudit.newest(
            of: AuditSubject(.user, user), before: start.sequence, limit: limit + shown, in: transaction)
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
