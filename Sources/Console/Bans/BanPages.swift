import Domain
import Encoding
import Operations

/// Bans: the list, a new ban with its preview, and the lifting of one.
enum BanPages {
    static let routes: [ConsoleRoute] = [
        .page("/bans", .manage, cost: .read, query: ["user", "device", "state", "after"], list),
        .action("/bans/find", .manage, cost: .write, isPersonal: true, find),
        .page("/bans/new", .manage, cost: .read, query: ["kind", "subject"]) { request in
            try await request.administration.require(.manage)
            return .page(new(request))
        },
        .action("/bans/new", .manage, cost: .write, isPersonal: true, preview),
        .action("/bans", .manage, cost: .write, subject: BanForm.subject(of:), add),
        .page("/bans/{}", .manage, cost: .read, isPersonal: true, show),
        .page("/bans/{}/lift", .manage, cost: .read, confirmLift),
        .action("/bans/{}/lift", .manage, cost: .write, lift),
    ]

    @Sendable private static func list(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        for kind in [Ban.SubjectKind.user, .device] {
            let name: StaticString = kind == .user ? "user" : "device"
            guard let subject = request.value(name) else { continue }
            return try await history(kind, subject, words: "\(kind.rawValue) \(subject)", request)
        }
        let (isActive, cursor) = (!request.has("state", "all"), request.value("after"))
        let bans = try await request.administration.listBans(
            isActive: isActive, limit: BanList.limit + 1, after: cursor)
        return .page(page(isActive ? .active : .all, bans, after: cursor, request))
    }

    /// The bans of a number or document, which is never part of an address.
    @Sendable private static func find(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let kind: Ban.SubjectKind = try request.choice("kind", label: "Kind")
        let subject = try request.required("subject", label: "Subject")
        try request.look(by: BanForm.lookName(kind, subject), at: BanForm.user(kind, subject))
        return try await history(kind, subject, words: "this \(kind.rawValue)", request)
    }

    private static func history(
        _ kind: Ban.SubjectKind, _ subject: String, words: String, _ request: ConsoleRequest
    ) async throws -> ConsoleAnswer {
        let bans = try await request.administration.banHistory(of: BanForm.target(kind, subject))
        return .page(page(.subject(words), bans, after: nil, request))
    }

    private static func page(
        _ selection: BanList.Selection, _ bans: [Administration.BanSummary], after cursor: String?,
        _ request: ConsoleRequest
    ) -> Page {
        let find = request.form(
            to: Links.bans.appending("find"), Array(BanForm.fields(kind: nil, subject: "").prefix(2)),
            submit: "Show the bans")
        return BanList(selection: selection, bans: bans, cursor: cursor, now: request.now, find: find).page
    }

    private static func new(_ request: ConsoleRequest) -> Page {
        let fields = BanForm.fields(kind: request.value("kind"), subject: request.value("subject") ?? "")
        return Page(
            "New ban", above: BanPage.above,
            content: """
                <p>Nothing is changed yet: the next page shows in numbers what the ban will do.</p>
                \(request.form(to: Links.newBan, fields, submit: "Preview the ban").markup)
                """)
    }

    @Sendable private static func preview(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        try await preview(BanForm(request), request)
    }

    private static func preview(_ form: BanForm, _ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let order = try form.order(at: request.now)
        let name = BanForm.lookName(form.kind, form.subject)
        try request.look(by: name, at: BanForm.user(form.kind, form.subject))
        let impact = try await request.administration.previewBan(
            order, by: request.parts.service.policy[\.bans])
        if impact.users.count == 1 { try request.look(by: name, at: impact.users.map(\.user.id)) }
        return .page(BanPreview.confirmation(form, until: order.endsAt, impact, request).page)
    }

    /// Bans, or shows the preview again if more users are affected meanwhile than were agreed to.
    @Sendable private static func add(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let form = try BanForm(request)
        // A refusal says whether the number is banned, and the preview whose it is.
        if form.kind == .phone || form.kind == .document {
            try request.look(by: BanForm.lookName(form.kind, form.subject))
        }
        do {
            let ban = try await request.administration.addBan(
                form.order(at: request.now), by: request.parts.service.policy[\.bans], upTo: request.agreedUsers(),
                urgency: request.urgency()
            ).ban
            return .seeOther(Links.ban(ban.id))
        } catch let refusal as Refusal where refusal.isWaiting {
            return .seeOther(ActList.path)
        } catch is Administration.UnconfirmedBan {
            return try await preview(form, request)
        }
    }

    private static func id(_ request: ConsoleRequest) throws(Refusal) -> BanID {
        guard let id = BanID(request.name) else { throw Refusal.notAnID("ban") }
        return id
    }

    @Sendable private static func show(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let (summary, note, liftNote) = try await request.administration.readBan(id(request))
        let users = summary.entries.compactMap { entry -> UserID? in
            guard case .user(let user) = entry.subject else { return nil }
            return user
        }
        try request.look(by: Digest256.of("ban \(summary.ban.id)"), at: Array(Set(users)))
        return .page(BanPage(summary: summary, note: note, liftNote: liftNote, now: request.now).page)
    }

    @Sendable private static func confirmLift(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let ban = try await request.administration.previewLift(of: id(request))
        let remaining = try await request.administration.remainingBans(after: [ban])
        return .page(lifting(ban, remaining, request).page)
    }

    @Sendable private static func lift(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let id = try id(request)
        guard let note = request.lines("note") else { throw Refusal.fieldMissing("Reason") }
        _ = try await request.administration.liftBan(id, note: note)
        return .seeOther(Links.ban(id))
    }

    static func lifting(_ ban: Ban, _ remaining: [Ban], _ request: ConsoleRequest) -> Confirmation {
        let others = remaining.map { other -> Markup in
            "Still in force for the same subjects: \(Page.Link("ban \(other.id)", Links.ban(other.id)).markup)."
        }
        return Confirmation(
            title: "Lift ban \(ban.id)",
            above: BanPage.above + [Page.Link("Ban \(ban.id)", Links.ban(ban.id))],
            effects: [
                "1 ban on a \(ban.kind.rawValue) will be lifted. Other bans in force: \(remaining.count).",
                "Sessions stay ended: users sign in again.",
            ] + others,
            form: request.form(
                to: Links.ban(ban.id).appending("lift"),
                [.note(name: "note", label: "Reason", hint: "It is kept sealed and shown only to administrators.")],
                submit: "Lift the ban"))
    }
}
