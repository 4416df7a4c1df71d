import Domain
import Foundation
import Operations

/// The page that confirms a new ban: the impact is that of the operation which will impose it.
enum BanPreview {
    /// The number of names in a list.
    private static let names = 50

    static func confirmation(
        _ form: BanForm, until end: Date?, _ impact: BanImpact, _ request: ConsoleRequest
    ) -> Confirmation {
        Confirmation(
            title: "Confirm the ban", above: BanPage.above + [Page.Link("New ban", Links.newBan)],
            effects: effects(form, until: end, impact), details: details(impact),
            form: request.form(
                to: Links.bans, subject: BanForm.subject(of: request),
                form.hidden + AgreedUsers.fields(impact.users.count) + urgency(impact, request), submit: "Ban",
                isDangerous: true))
    }

    /// The input for an urgent ban, if the ban would wait for a second administrator.
    private static func urgency(_ impact: BanImpact, _ request: ConsoleRequest) -> [Form.Field] {
        let limit = request.parts.service.policy[\.bans].fourEyesOver
        return limit > 0 && impact.users.count > limit ? [.urgency] : []
    }

    private static func effects(_ form: BanForm, until end: Date?, _ impact: BanImpact) -> [Markup] {
        var effects: [Markup] = [
            """
            The ban is on a \(form.kind.rawValue), <bdi>\(form.subject)</bdi>. \
            Scope \(form.scope.words). Reason \(form.reason.rawValue), \(Markup.end(end)).
            """,
            "\(Markup.count(impact.users.count, "user")) will be affected at once.",
            "\(Markup.count(impact.sessions.count, "session")) will end, on every node.",
            "\(Markup.count(impact.devices.count, "device")) will be banned.",
            "Permissions and requests that will end: \(impact.authorizationsText).",
        ]
        if impact.holdsNumber { effects.append("A telephone number is banned, also for users who prove it later.") }
        if impact.holdsDocument { effects.append("A document is banned, also for users who prove it later.") }
        effects += impact.replaced.map { ban in
            let link = Page.Link("ban \(ban.id)", Links.ban(ban.id)).markup
            return "It replaces \(link), \(Markup.end(ban.endsAt))."
        }
        return effects
    }

    private static func details(_ impact: BanImpact) -> Markup {
        guard !impact.users.isEmpty else { return .empty }
        let rest = impact.users.count - names
        let table = DataTable<UserSummary>(
            "Users affected", none: "",
            [.link("User") { Links.user($0) }, .text("Level") { $0.user.assurance.rawValue }])
        return """
            \(table.markup(Array(impact.users.prefix(names))))
            \(rest > 0 ? "<p>\(rest) more are not shown.</p>" : .empty)
            """
    }
}
