import Database
import Domain
import Foundation
import Repositories

package extension ReadAudit.Filter {
    /// Whether every entry passes the filter.
    var isOpen: Bool { subjects == nil && event == nil && since == nil && actor == nil }

    func admits(_ entry: AuditEntry) -> Bool {
        if let event, entry.event != event { return false }
        if let actor, !actor.utf8.elementsEqual(entry.actor.utf8) { return false }
        if let since, entry.at < since { return false }
        return subjects?.contains { $0.utf8.elementsEqual(entry.subject.utf8) } ?? true
    }
}

package extension ReadAudit {
    /// The conditions for entries of the audit log.
    struct Filter: Sendable {
        /// The whole subjects; `nil` for any.
        private let subjects: [String]?
        private let event: String?
        private let actor: String?
        /// The time before which entries are ignored; `nil` for all entries.
        let since: Date?

        /// - Parameters:
        ///   - subject: the whole subject, such as `user 0192…`, or its id alone.
        ///   - event: the name of an event.
        ///   - since: `nil` for all entries of the log.
        /// - Throws: `Refusal` `malformed_request` for an event that does not exist.
        package init(subject: String? = nil, event: String? = nil, since: Date? = nil) throws(Refusal) {
            if let event, AuditRepository.Event(rawValue: event) == nil {
                throw Refusal.unknownChoice(of: "event", AuditRepository.Event.self)
            }
            self.init(subjects: subject.map(AuditSubject.meant), event, since)
        }

        /// - Parameter subjects: whole subjects, such as ``Administration/auditSubjects(meantBy:mayBeNew:)`` returns them.
        /// - Throws: `Refusal` `malformed_request` for an event that does not exist.
        package init(subjects: [String], event: String?, since: Date?) throws(Refusal) {
            let rest = try Filter(event: event, since: since)
            self.init(subjects: subjects, rest.event, rest.since)
        }

        /// - Parameters:
        ///   - subject: one whole subject; `nil` for any.
        ///   - actor: the whole actor; `nil` for any.
        /// - Throws: `Refusal` `malformed_request` for an event that does not exist.
        package init(wholeSubject subject: String?, event: String?, actor: String?, since: Date?) throws(Refusal) {
            let rest = try Filter(event: event, since: since)
            self.init(subjects: subject.map { [$0] }, rest.event, rest.since, actor: actor)
        }

        private init(subjects: [String]?, _ event: String?, _ since: Date?, actor: String? = nil) {
            (self.subjects, self.event, self.since, self.actor) = (subjects, event, since, actor)
        }

        /// Whether entries that an index finds may not pass.
        var needsScan: Bool { [subjects != nil, actor != nil, event != nil].count { $0 } > 1 }

        /// The keys to search by, for which the log has indexes; empty if the filter has only a time.
        var keys: [AuditChainRepository.Key] {
            if let subjects { return subjects.map { .subject($0) } }
            if let actor { return [.actor(actor)] }
            return event.map { [.event($0)] } ?? []
        }
    }

    /// How many entries one statement scans, and how many of those without a number are read.
    internal static let window: Int64 = 2000
    /// How many entries are read by an index at once.
    private static let page = 500

    /// The last entries that pass a filter, oldest first.
    ///
    /// - Parameter end: only entries before this number, which may be beyond the last one; `nil` to include entries that
    ///   are not chained yet.
    func search(_ filter: Filter, before end: Int64? = nil, count: Int) async throws -> [Entry] {
        let (found, end) = try await newest(filter, before: end)
        let missing = count - found.count
        guard missing > 0 else { return found.prefix(count).reversed() }
        let rest =
            filter.keys.isEmpty
            ? try await latest(filter, before: end, count: missing)
            : try await indexed(filter, before: end, count: missing)
        return (found + rest).reversed()
    }

    /// The unchained entries that pass, newest first, and the number before which to continue.
    private func newest(_ filter: Filter, before end: Int64?) async throws -> (found: [Entry], before: Int64) {
        if let end { return ([], min(end, try await lastSequence() + 1)) }
        let (found, through) = try await unchained(limit: Int(Self.window), filter.admits)
        return (found, through + 1)
    }

    /// The newest entries since a time, newest first. The log is read backwards until its entries are older.
    private func latest(_ filter: Filter, before end: Int64, count: Int) async throws -> [Entry] {
        guard end > 1 else { return [] }
        var (found, through) = ([Entry](), end - 1)
        while found.count < count, through > 0 {
            // Numbers are without gaps up to those that were purged, so an empty window is before the first entry.
            let page = try await entries(after: through - Self.window, through: through)
            guard !page.isEmpty else { break }
            found += page.reversed().filter { filter.admits($0.entry) }
            if filter.ends(page) { break }
            through -= Self.window
        }
        return Array(found.prefix(count))
    }

    /// The newest entries of each key of the filter, newest first.
    private func indexed(_ filter: Filter, before end: Int64, count: Int) async throws -> [Entry] {
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

extension ReadAudit.Filter {
    /// Whether all entries before some others are too old.
    fileprivate func ends(_ page: [ReadAudit.Entry]) -> Bool {
        since.map { since in !page.isEmpty && page.allSatisfy { $0.entry.at < since } } ?? false
    }
}
