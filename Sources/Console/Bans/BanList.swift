import Domain
import Foundation
import Operations

/// A list of bans, newest first, with the ways to find others.
struct BanList: Sendable {
    /// Which bans are in the list.
    enum Selection: Sendable {
        case active
        case all
        /// All bans of one subject, also past ones, which are few.
        case subject(String)
    }

    let selection: Selection
    let bans: [Administration.BanSummary]
    let cursor: String?
    let now: Date
    /// The form that finds the bans of a number or document.
    let find: Form

    /// The number of bans of a page.
    static let limit = 50
}

extension BanList {
    var page: Page {
        let (shown, pager) = parts
        return Page(
            "Bans",
            content: """
                \(Markup.list(Self.links.map(\.markup)))
                \(table.markup(shown))
                \(pager.markup)
                <h2>Bans of one subject</h2>
                \(find.markup)
                """)
    }

    private static var links: [Page.Link] {
        [
            Page.Link("New ban", Links.newBan), Page.Link("Active bans", Links.bans),
            Page.Link("All bans", Links.bans.adding("state", "all")),
            Page.Link("Evasions of bans", PagePath("/audit").adding("event", "ban_evaded")),
        ]
    }

    private var parts: ([Administration.BanSummary], Pager) {
        switch selection {
        case .active: paged(Links.bans)
        case .all: paged(Links.bans.adding("state", "all"))
        case .subject: (bans, Pager(Links.bans, cursor: nil, next: nil))
        }
    }

    private func paged(_ path: PagePath) -> ([Administration.BanSummary], Pager) {
        let (shown, next) = Pager.page(bans, limit: Self.limit) { $0.ban.id.description }
        return (shown, Pager(path, cursor: cursor, next: next))
    }

    private var table: DataTable<Administration.BanSummary> {
        let (caption, none) =
            switch selection {
            case .active: ("Active bans, newest first", "No ban is active.")
            case .all: ("Bans, newest first", "There was never a ban.")
            case .subject(let words): ("Bans of \(words), newest first", "There was never a ban on this subject.")
            }
        let now = now
        return DataTable(
            caption, none: none,
            [
                .link("Ban") { Page.Link($0.ban.id.description, Links.ban($0.ban.id)) },
                .init("Subject") { $0.entries.first { $0.origin == .direct }?.subject.markup ?? "erased" },
                .text("Scope") { $0.ban.scope.rawValue }, .text("Reason") { $0.ban.reason.rawValue },
                .text("State") { $0.ban.state(at: now).rawValue }, .time("Begun") { $0.ban.createdAt },
                .time("Until", none: "permanent") { $0.ban.endsAt }, .text("By") { $0.ban.actor },
            ])
    }
}
