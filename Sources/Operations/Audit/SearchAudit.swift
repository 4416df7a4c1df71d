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
            throw Refusal.unknownChoice(of: "event", AuditRepository.Event.self)
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

    /// What the log is asked for in turn, by its indexes; empty if the time is all that counts.
    var keys: [AuditChainRepository.Key] {
        guard let subject else { return event.map { [.event($0)] } ?? [] }
        return AuditSubject.meant(by: subject).map { .subject($0) }
    }
}

extension ReadAudit {
    /// How many entries are looked at in one statement.
    private static let window: Int64 = 2000
    /// How many are read by an index at once.
    private static let page = 500

    /// The last entries that pass a filter, oldest first.
    ///
    /// - Parameter end: only entries before this number; `nil` for those that are not chained yet, too.
    package func search(_ filter: AuditFilter, before end: Int64? = nil, count: Int) async throws -> [Entry] {
        let (found, end) = try await newest(filter, before: end)
        let missing = count - found.count
        guard missing > 0 else { return found.prefix(count).reversed() }
        let rest =
            filter.keys.isEmpty
            ? try await latest(filter, before: end, count: missing)
            : try await indexed(filter, before: end, count: missing)
        return (found + rest).reversed()
    }

    /// What passes of the entries that are not chained yet, newest first, and the number before which to go on.
    private func newest(_ filter: AuditFilter, before end: Int64?) async throws -> (found: [Entry], before: Int64) {
        if let end { return ([], end) }
        let (found, through) = try await unchained(limit: Int(Self.window), filter.admits)
        return (found, through &+ 1)
    }

    /// The newest entries since a time, newest first: the log is read from its end on until they are older.
    private func latest(_ filter: AuditFilter, before end: Int64, count: Int) async throws -> [Entry] {
        var (found, through) = ([Entry](), end &- 1)
        while found.count < count, through > 0 {
            let page = try await entries(after: through - Self.window, through: through)
            guard !page.isEmpty else { break }
            found += page.reversed().filter { filter.admits($0.entry) }
            if filter.ends(page) { break }
            through -= Self.window
        }
        return Array(found.prefix(count))
    }

    /// The newest entries of each key that the filter asks for, newest first.
    private func indexed(_ filter: AuditFilter, before end: Int64, count: Int) async throws -> [Entry] {
        var found: [Entry] = []
        for key in filter.keys {
            var (own, before) = ([Entry](), end)
            while own.count < count {
                let page = try await entries(of: key, before: before, limit: Self.page)
                own += page.entries.filter { filter.admits($0.entry) }
                guard let last = page.last, !filter.ends(page.entries) else { break }
                before = last
            }
            found += own
        }
        found.sort { $0.place?.sequence ?? 0 > $1.place?.sequence ?? 0 }
        return Array(found.prefix(count))
    }
}

extension AuditFilter {
    /// Whether all that comes before some entries is too old.
    fileprivate func ends(_ page: [ReadAudit.Entry]) -> Bool {
        since.map { since in !page.isEmpty && page.allSatisfy { $0.entry.at < since } } ?? false
    }
}
