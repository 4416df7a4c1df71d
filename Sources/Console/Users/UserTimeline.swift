import Domain
import Foundation
import Operations

/// What happened to a user, newest first.
struct UserTimeline: Sendable {
    let history: Administration.UserHistory
    private let shown: [UserEvent]
    private let pager: Pager

    /// The number of events of a page.
    static let limit = 50

    /// - Parameters:
    ///   - history: up to one event more than `limit`.
    ///   - cursor: `nil` for the first page.
    init(_ history: Administration.UserHistory, after cursor: String?) {
        self.history = history
        let (rows, next) = Pager.page(history.events, limit: Self.limit, key: \.cursor)
        shown = rows
        pager = Pager(Links.user(history.summary.user.id), cursor: cursor, next: next)
    }
}

extension UserTimeline {
    /// The newest refused sign-in on this page.
    var lastRefusal: UserEvent? { shown.first { $0.kind == .signIn && $0.code != nil } }

    /// The number of permissions and requests by state, of the newest ones if there may be more.
    var permissions: String {
        let most = Administration.mostPermissions
        let isMore = history.permissions.values.reduce(0, +) >= most
        let counts = MessagingPermission.State.allCases.compactMap { state in
            history.permissions[state].map { "\($0) \(state.rawValue.lowercased())" }
        }
        guard !counts.isEmpty else { return "none" }
        return counts.joined(separator: ", ") + (isMore ? " of the newest \(most) on each side" : "")
    }

    /// The codes of an event; `nil` if it has none.
    static func why(_ event: UserEvent) -> String? {
        let codes = [event.code, event.reason].compactMap(\.self)
        return codes.isEmpty ? nil : codes.joined(separator: " ")
    }

    func markup(_ role: AdminRole) -> Markup {
        """
        \(table(role).markup(shown))
        \(onlyCounted)\(pager.markup)
        """
    }

    private func table(_ role: AdminRole) -> DataTable<UserEvent> {
        DataTable(
            "What happened, newest first", none: "Nothing is recorded.",
            [
                .time("Time") { $0.at }, .text("Kind") { $0.kind.words }, .text("What") { $0.what },
                .text("Why") { Self.why($0) },
                .init("Device") { event in
                    event.deviceID.map { role.link($0.description, Links.device($0), needing: .manage) } ?? "–"
                },
                .text("App") { $0.applicationID?.description }, .text("Session") { $0.sessionID?.description },
                .text("Key") { $0.keyID?.description }, .text("By") { $0.actor },
            ])
    }

    /// Sign-ins that were counted, but not recorded one by one.
    private var onlyCounted: Markup {
        let (accepted, refused) = history.onlyCounted
        guard accepted > 0 || refused > 0 else { return .empty }
        return """
            <p>Not shown one by one: \(accepted) accepted and \(refused) refused sign-ins of the provider's users in \
            networks with too many. This user's may be among them.</p>

            """
    }
}

extension UserEvent.Kind {
    fileprivate var words: String {
        switch self {
        case .signIn: "sign-in"
        case .session: "session"
        case .certificate: "certificate"
        case .phone: "number"
        case .card: "card"
        case .ban: "ban"
        case .audit: "audit log"
        }
    }
}
