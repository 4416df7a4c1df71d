import Domain
import Encoding
import Foundation

/// Messages of the outbox, newest first, of one state or of all.
struct OutboxListPage: Sendable {
    /// The messages of this page, and one more if others follow.
    let messages: [OutboxMessage]
    /// The state of all messages shown; `nil` for all states.
    let state: OutboxMessage.State?
    let cursor: String?
    let now: Date

    static let limit = 50
    static let path = PagePath("/outbox")

    static func path(of message: OutboxMessageID, _ action: String) -> PagePath {
        path.appending(message.description).appending(action)
    }
}

extension OutboxListPage {
    var page: Page {
        let (shown, next) = Pager.page(messages, limit: Self.limit) { $0.id.description }
        return Page(
            "Outbox",
            content: """
                \(states)
                \(retryOfAll)
                \(table.markup(shown))
                \(Pager(Self.path.adding("state", state?.rawValue), cursor: cursor, next: next).markup)
                """)
    }

    /// Links to the list of each state.
    private var states: Markup {
        let all = [Page.Link("All", Self.path)]
        let links =
            all
            + OutboxMessage.State.allCases.map { state in
                Page.Link(state.words, Self.path.adding("state", state.rawValue))
            }
        return "<nav aria-label=\"States of messages\">\n\(Markup.list(links.map(\.markup)))\n</nav>"
    }

    private var retryOfAll: Markup {
        guard state == .dead, !messages.isEmpty else { return .empty }
        return "<p>\(Page.Link("Send all dead messages again", Self.path.appending("retry")).markup)</p>"
    }

    private var table: DataTable<OutboxMessage> {
        DataTable(
            state.map { "Messages, \($0.words), newest first" } ?? "Messages, newest first",
            none: "There is no such message.",
            [
                .text("Message") { $0.id.short },
                .text("Kind") { $0.kind.words },
                .init("Created") { [now] in .ago($0.createdAt, at: now) },
                .text("State") { $0.state.words },
                .init("Tries") { "\($0.tries)" },
                .time("Next try") { $0.state == .waiting ? $0.dueAt : nil },
                .time("Expires") { $0.expiresAt },
                .text("Reason") { $0.reason },
                .init("Actions") { [now] in Self.actions($0, at: now) },
            ])
    }

    private static func actions(_ message: OutboxMessage, at now: Date) -> Markup {
        var links: [Page.Link] = []
        if message.state == .dead, now < message.expiresAt {
            links.append(Page.Link("Send \(message.id.short) again", path(of: message.id, "retry")))
        }
        if message.state == .dead || message.state == .waiting {
            links.append(Page.Link("Drop \(message.id.short)", path(of: message.id, "drop")))
        }
        return links.isEmpty ? "–" : .list(links.map(\.markup))
    }
}

extension OutboxMessage.State {
    /// The state for a reader.
    var words: String {
        switch self {
        case .waiting: "waiting"
        case .sent: "sent"
        case .expired: "expired"
        case .dead: "dead"
        case .dropped: "dropped"
        }
    }
}

extension OutboxKind {
    /// The kind for a reader.
    var words: String { rawValue.replacing("_", with: " ") }
}
