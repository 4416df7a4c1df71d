import Database
import Domain
import Foundation
import Repositories

/// What entries of the audit log are looked for by.
package struct AuditFilter: Sendable {
    private let subject: String?
    private let event: String?
    /// Older entries end the search.
    let since: Date?

    /// - Parameters:
    ///   - subject: the whole subject, such as `user 0192…`, or its id alone.
    ///   - event: the word of an event.
    ///   - since: `nil` for all that the log has.
    /// - Throws: `Refusal` `malformed_request` for an event that does not exist.
    package init(subject: String? = nil, event: String? = nil, since: Date? = nil) throws(Refusal) {
        if let event, AuditRepository.Event(rawValue: event) == nil {
            let known = AuditRepository.Event.allCases.map(\.rawValue).sorted().joined(separator: ", ")
            throw Refusal(.malformedRequest, "There is no event \(event); known: \(known).")
        }
        (self.subject, self.event, self.since) = (subject, event, since)
    }

    /// Whether every entry passes.
    package var isOpen: Bool { subject == nil && event == nil && since == nil }

    package func admits(_ entry: AuditEntry) -> Bool {
        if let event, entry.event != event { return false }
        if let since, entry.at < since { return false }
        guard let subject else { return true }
        return entry.subject == subject || entry.subject.hasSuffix(" " + subject)
    }
}

extension ReadAudit {
    /// How many entries are looked at in one statement.
    private static let window: Int64 = 2000

    /// The last entries that pass a filter, oldest first.
    ///
    /// The log is read from its end on, so many entries at a time: it is written far more often than it is searched, and
    /// has no index for this.
    ///
    /// - Parameter end: only entries before this number; `nil` for those that are not chained yet, too.
    package func search(_ filter: AuditFilter, before end: Int64? = nil, count: Int) async throws -> [Entry] {
        var (found, through) = try await newest(filter, before: end)
        while found.count < count, through > 0 {
            let page = try await entries(after: through - Self.window, through: through)
            guard !page.isEmpty else { break }
            found += page.reversed().filter { filter.admits($0.entry) }
            if let since = filter.since, page.allSatisfy({ $0.entry.at < since }) { break }
            through -= Self.window
        }
        return found.prefix(count).reversed()
    }

    /// What passes of the entries that are not chained yet, newest first, and the number to go on from.
    private func newest(_ filter: AuditFilter, before end: Int64?) async throws -> (found: [Entry], through: Int64) {
        if let end { return ([], end - 1) }
        return try await unchained(limit: Int(Self.window), filter.admits)
    }
}
