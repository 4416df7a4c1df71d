import Domain
import Encoding
import Foundation
import Operations

/// The cards that wait for a reviewer, oldest first.
struct ReviewQueuePage: Sendable {
    /// The cards of this page, and one more if others follow.
    let waiting: [Administration.WaitingCard]
    /// The cursor of this page; `nil` for the first one.
    let cursor: String?
    let now: Date
    /// The form that undoes the decision that led here; `nil` if none did.
    let undo: Form?

    static let limit = 50
    static let path = PagePath("/review")
}

extension ReviewQueuePage {
    var page: Page {
        let (shown, next) = Pager.page(waiting, limit: Self.limit) { $0.id.description }
        let first: Markup =
            shown.first.map { "<p>\(Page.Link("Review the oldest card", Self.path(of: $0.id)).markup)</p>" } ?? .empty
        return Page(
            "Review",
            content: """
                \(undo.map(Self.notice) ?? .empty)
                \(first)
                \(table.markup(shown))
                \(Pager(Self.path, cursor: cursor, next: next).markup)
                """)
    }

    private var table: DataTable<Administration.WaitingCard> {
        DataTable(
            "Cards in review, oldest first", none: "No card waits for a reviewer.",
            [
                .link("Card") { Page.Link("Card \($0.id.short)", Self.path(of: $0.id)) },
                .init("Submitted") { [now] in .ago($0.submittedAt, at: now) },
                .init("Failed checks") { .list($0.failed.map { "\($0.detail)" }) },
            ])
    }

    static func path(of card: IdentityCardID) -> PagePath { path.appending(card.description) }

    /// What the reviewer decided just before, with the form that undoes it. The page does not say what the decision was:
    /// a link could claim anything.
    static func notice(_ undo: Form) -> Markup {
        """
        <section class="notice" aria-label="Your last decision">
        <p>Your last decision takes effect ten seconds after you made it. Until then you can undo it.</p>
        \(undo.markup)
        </section>
        """
    }
}

extension Identifier {
    /// The beginning of the id, which is enough for people to tell few objects apart.
    var short: String { String(description.prefix(8)) }
}
