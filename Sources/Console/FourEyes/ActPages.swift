import Domain
import Foundation
import Operations

/// Acts that wait for a second administrator.
enum ActPages {
    static let routes: [ConsoleRoute] = [
        .page("/acts", .manage, cost: .read) { request in
            let acts = try await request.administration.listWaitingActs()
            return .page(ActList(acts: acts, administrator: request.administrator.id, now: request.now).page)
        },
        .page("/acts/{}", .manage, cost: .read) { request in
            let id = try id(request)
            guard let found = try await request.administration.listWaitingActs().first(where: { $0.act.id == id }),
                found.act.isWaiting(at: request.now)
            else { throw Refusal.noWaitingAct(id) }
            return .page(confirmation(found, request).page)
        },
        .action("/acts/{}", .manage, cost: .write) { request in
            let id = try id(request)
            _ = try request.agreedUsers()
            try await request.administration.confirmAct(
                id, note: request.lines("note"), by: request.parts.service.policy[\.bans])
            return .seeOther(ActList.path)
        },
    ]

    private static func id(_ request: ConsoleRequest) throws(Refusal) -> WaitingActID {
        guard let id = WaitingActID(request.name[...]) else { throw Refusal.notAnID("waiting act") }
        return id
    }

    static func confirmation(_ found: ActList.Row, _ request: ConsoleRequest) -> Confirmation {
        let act = found.act
        let note: [Form.Field] =
            act.kind == .ban
            ? [.note(name: "note", label: "Finding", hint: "It is kept sealed and shown only to administrators.")] : []
        return Confirmation(
            title: "Confirm act \(act.id)", above: [Page.Link("Waiting acts", ActList.path)],
            effects: [
                """
                \(act.kind.words), \(act.subject), asked for by <bdi>\(found.administrator)</bdi> at \
                \(.time(act.createdAt)). Reason: \(act.reason ?? "none").
                """
            ] + (act.ban.map { terms($0).map { "\($0)." } } ?? []) + [
                "\(Markup.count(act.users, "user")) will be affected at once. If there are more by now, nothing changes."
            ],
            form: request.form(
                to: ActList.path.appending(act.id.description), note + AgreedUsers.fields(act.users),
                submit: "Confirm", isDangerous: true))
    }
}

extension ActPages {
    /// What a ban is about, a clause each. A number or document is never shown.
    fileprivate static func terms(_ ban: BanOrder) -> [Markup] {
        var terms: [Markup] = [
            "Subject: \(ban.kind.words)", "Scope: \(ban.scope.words)", "Duration: \(.end(ban.endsAt))",
        ]
        if ban.withDevices { terms.append("The user's devices are banned too") }
        if ban.replaces { terms.append("Active bans on the subject that are at least as strict are replaced") }
        return terms
    }
}

/// The list of waiting acts, and of urgent ones of the last day.
struct ActList: Sendable {
    typealias Row = (act: WaitingAct, administrator: String)

    let acts: [Row]
    /// The administrator who reads the list. Their own acts have no form that confirms them.
    let administrator: AdministratorID
    let now: Date

    static let path = PagePath("/acts")
}

extension ActList {
    var page: Page {
        Page(
            "Waiting acts",
            content: """
                <p>An act waits for 24 hours, until another administrator confirms it. Urgent ones took effect at once.</p>
                \(table.markup(acts))
                """)
    }

    var table: DataTable<Row> {
        let (administrator, now) = (administrator, now)
        return DataTable(
            "Acts of the last day, newest first", none: "No act waits.",
            [
                .text("Act") { $0.act.id.description }, .text("Kind") { $0.act.kind.words },
                .text("Subject") { $0.act.subject },
                .init("Ban") { row in row.act.ban.map { .list(ActPages.terms($0)) } ?? "–" },
                .init("Users") { "\($0.act.users)" },
                .text("Reason") { $0.act.reason }, .text("By") { $0.administrator },
                .time("Since") { $0.act.createdAt },
                .init("State") { row in
                    if row.act.isUrgent { return "took effect at once" }
                    guard row.act.isWaiting(at: now) else { return "expired" }
                    guard row.act.requestedBy != administrator else { return "waits for another administrator" }
                    return Page.Link("Confirm act \(row.act.id)", Self.path.appending(row.act.id.description)).markup
                },
            ])
    }
}

extension WaitingAct.Kind {
    fileprivate var words: String {
        switch self {
        case .ban: "Ban"
        case .erasure: "Erasure of a user"
        case .disabling: "Disabling of a provider"
        }
    }
}
