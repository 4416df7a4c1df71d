import Domain
import Foundation
import Operations

/// The page of a user: level, ban, sessions and what happened, without personal data.
struct UserPage: Sendable {
    let detail: Administration.UserDetail
    let timeline: UserTimeline
    let role: AdminRole
    let lifetimes: SessionPolicy
    let now: Date

    /// The number of sessions on the page.
    static let sessions = 50

    /// The pages above the page of an action on a user.
    static func above(_ user: UserSummary) -> [Page.Link] { [Links.search, Links.user(user)] }
}

extension UserPage {
    var page: Page {
        Page(
            detail.summary.address, above: [Links.search],
            content: """
                \(facts.markup)
                <h2>Why this level</h2>
                \(Markup.list(reasons))
                <h2>Actions</h2>
                \(Markup.list(actions))
                <details>
                <summary>\(Markup.bounded(detail.sessions.count, "open session"))</summary>
                \(sessionTable)
                </details>
                \(timeline.markup(role))
                """)
    }

    private var user: User { detail.summary.user }

    private var facts: Facts {
        var facts = Facts()
        facts.add("Id", user.id.description)
        facts.add("External id", user.externalID)
        facts.add("Level", user.assurance.rawValue)
        facts.add("Ban", ban)
        facts.add("First seen", user.createdAt)
        facts.add("Last used", detail.lastUsedAt, none: "never")
        facts.add("Number verified", detail.phoneVerifiedAt, none: "never")
        facts.add("Identity verified", detail.identityVerifiedAt, none: "never")
        facts.add("Devices", BoundedCount.text(detail.devices))
        facts.add("Permissions", timeline.permissions)
        if detail.erasedAt != nil { facts.add("Erased", detail.erasedAt) }
        return facts
    }

    private var ban: Markup {
        guard let ban = detail.ban else { return "none" }
        let link = role.link(ban.id.description, Links.ban(ban.id), needing: .manage)
        return "\(link): \(ban.scope.words), \(ban.reason.rawValue), \(Markup.end(ban.endsAt))"
    }

    /// Why the user has the level, and what may prevent a sign-in.
    private var reasons: [Markup] {
        var reasons: [Markup] = [Markup(user.assurance.explanation)]
        if let suspended = detail.suspended { reasons.append(Markup(suspended.explanation)) }
        reasons += CardStatus.allCases.compactMap { status in
            detail.cards[status].flatMap { $0 > 0 ? status.explanation($0) : nil }
        }
        if detail.ban?.scope == .all { reasons.append("The ban refuses every sign-in of the user.") }
        if detail.ban?.scope == .messaging { reasons.append("The ban forbids messages. Signing in is allowed.") }
        if let refused = timeline.lastRefusal {
            reasons.append(
                "The last refused sign-in was at \(.time(refused.at)): \(UserTimeline.why(refused) ?? "no code").")
        }
        return reasons
    }

    private var actions: [Markup] {
        let path = Links.user(user.id)
        let links: [(text: String, path: PagePath, right: AdminRight)] = [
            ("End all sessions", path.appending("end-sessions"), .support),
            ("Challenge all sessions", path.appending("challenge"), .support),
            ("Ban", Links.newBan(.user, user.id.description), .manage),
            ("Bans of this user", Links.bans.adding("user", user.id.description), .manage),
            ("Export the stored data", path.appending("export"), .manage),
            ("Erase", path.appending("erase"), .manage),
        ]
        return links.filter { role.includes($0.right) }.map { Page.Link($0.text, $0.path).markup }
    }

    private var sessionTable: Markup {
        let shown = detail.sessions.prefix(Self.sessions)
        let rest = detail.sessions.count - shown.count
        let isAll = detail.sessions.count <= BoundedCount.most
        let older: Markup = isAll ? "\(rest) older" : "Older"
        let note: Markup = rest > 0 ? "\n<p>\(older) sessions are not shown.</p>" : .empty
        return "\(SessionTable(role: role, lifetimes: lifetimes, now: now).markup(Array(shown)))\(note)"
    }
}

/// Open sessions of a user or device, newest first.
struct SessionTable: Sendable {
    let role: AdminRole
    let lifetimes: SessionPolicy
    let now: Date

    func markup(_ sessions: [Session]) -> Markup {
        let (role, lifetimes, now) = (role, lifetimes, now)
        return DataTable<Session>(
            "Open sessions", none: "No session is open.",
            [
                .text("Session") { $0.id.description },
                .text("State") { $0.effectiveState(at: now, policy: lifetimes).rawValue },
                .init("User") { role.link($0.externalID, Links.user($0.userID), needing: .support) },
                .init("Device") {
                    role.link($0.deviceID.description, Links.device($0.deviceID), needing: .manage)
                },
                .text("App") { $0.applicationID.description },
                .time("Opened") { $0.createdAt }, .time("Last used") { $0.lastUsedAt },
                .link("Action") { session in
                    guard role.includes(.support) else { return nil }
                    return Page.Link("End session \(session.id)", Links.session(session.id).appending("end"))
                },
            ]
        ).markup(sessions)
    }
}
