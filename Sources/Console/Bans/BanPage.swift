import Domain
import Encoding
import Foundation
import Operations

/// The page of a ban, with its notes.
struct BanPage: Sendable {
    let summary: Administration.BanSummary
    let note: String?
    let liftNote: String?
    let now: Date

    /// The number of subjects on the page.
    static let limit = 100

    static let above = [Page.Link("Bans", Links.bans)]
}

extension BanPage {
    var page: Page {
        let ban = summary.ban
        let lift = Page.Link("Lift ban \(ban.id)", Links.ban(ban.id).appending("lift"))
        return Page(
            "Ban \(ban.id)", above: Self.above,
            content: """
                \(facts.markup)
                \(ban.isActive(at: now) ? Markup.list([lift.markup]) : .empty)
                \(Self.entries.markup(Array(summary.entries.prefix(Self.limit))))
                \(rest)
                """)
    }

    private var rest: Markup {
        let rest = summary.entries.count - Self.limit
        return rest > 0 ? "<p>\(rest) more are not shown.</p>" : .empty
    }

    private var facts: Facts {
        let ban = summary.ban
        var facts = Facts()
        facts.add("State", ban.state(at: now).rawValue)
        facts.add("Kind", ban.kind.words)
        facts.add("Scope", ban.scope.words)
        facts.add("Reason", ban.reason.rawValue)
        facts.add("Begun", ban.createdAt)
        facts.add("Until", ban.endsAt, none: "permanent")
        facts.add("By", ban.actor)
        facts.add("Finding", note)
        if let lifted = ban.lifted {
            facts.add("Lifted", lifted.at)
            facts.add("Lifted by", lifted.actor)
            facts.add("Lifted because", liftNote)
        }
        return facts
    }

    private static var entries: DataTable<BanEntry> {
        DataTable(
            "Whom and what the ban affects", none: "The subject was erased.",
            [
                .init("Subject") { $0.subject.markup }, .text("Why") { $0.origin.words },
                .time("Until", none: "permanent") { $0.endsAt },
            ])
    }
}
