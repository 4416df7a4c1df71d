import Domain
import Encoding
import Operations

/// What an administrator does to a user. The page of each action has its path.
enum UserActions {
    static let routes: [ConsoleRoute] = [
        confirmation("/users/{}/end-sessions", .support) { user, request in
            endingSessions(user, request)
        },
        .action("/users/{}/end-sessions", .support, cost: .write) { request in
            _ = try await request.administration.endSessions(of: request.name, reason: request.reason())
            return seeUser(request)
        },
        confirmation("/users/{}/challenge", .support) { user, request in
            challenge(user, request)
        },
        .action("/users/{}/challenge", .support, cost: .write) { request in
            _ = try await request.administration.challengeUser(request.name, reason: request.reason())
            return seeUser(request)
        },
        confirmation("/users/{}/export", .manage) { user, request in
            export(user, request)
        },
        .action("/users/{}/export", .manage, cost: .heavy, isPersonal: true) { request in
            try await request.administration.require(.manage)
            try request.look(at: [await request.administration.readUser(request.name).user.id])
            let export = try await request.administration.exportUser(request.name, reason: request.reason())
            return .download(export.json.jsonBytes, name: "user.json", mediaType: "application/json")
        },
        confirmation("/users/{}/erase", .manage) { user, request in
            erasure(user, request)
        },
        .action("/users/{}/erase", .manage, cost: .write) { request in
            let reason = try request.reason()
            try request.requireSure()
            do {
                _ = try await request.administration.eraseUser(request.name, reason: reason)
            } catch let refusal as Refusal where refusal.isWaiting {
                return .seeOther(ActList.path)
            }
            return seeUser(request)
        },
    ]

    private static func confirmation(
        _ path: StaticString, _ right: AdminRight,
        _ confirmation: @escaping @Sendable (Administration.UserDetail, ConsoleRequest) -> Confirmation
    ) -> ConsoleRoute {
        .page(path, right, cost: .read, isPersonal: true) { request in
            try await request.administration.require(right)
            let user = try await request.administration.readUserDetail(request.name)
            try request.look(at: [user.summary.user.id])
            return .page(confirmation(user, request).page)
        }
    }

    private static func seeUser(_ request: ConsoleRequest) -> ConsoleAnswer {
        .seeOther(PagePath("/users").appending(request.name))
    }

    private static func path(_ user: Administration.UserDetail, _ action: String) -> PagePath {
        Links.user(user.summary.user.id).appending(action)
    }
}

extension UserActions {
    static func endingSessions(_ user: Administration.UserDetail, _ request: ConsoleRequest) -> Confirmation {
        Confirmation(
            title: "End all sessions of \(user.summary.address)", above: UserPage.above(user.summary),
            effects: [
                "\(Markup.bounded(user.sessions.count, "session")) on \(devices(user)) will end at once, on every node.",
                "The user may sign in again.",
            ],
            form: request.form(
                to: path(user, "end-sessions"), [.reason], submit: "End all sessions", isDangerous: true))
    }

    static func challenge(_ user: Administration.UserDetail, _ request: ConsoleRequest) -> Confirmation {
        let challenged = user.sessions.count { $0.state == .authenticated }
        return Confirmation(
            title: "Challenge all sessions of \(user.summary.address)", above: UserPage.above(user.summary),
            effects: [
                "\(Markup.bounded(challenged, "session")) will be challenged.",
                "The user must prove the identity again before the next action.",
            ],
            form: request.form(to: path(user, "challenge"), [.reason], submit: "Challenge all sessions"))
    }

    static func export(_ user: Administration.UserDetail, _ request: ConsoleRequest) -> Confirmation {
        Confirmation(
            title: "Export the data of \(user.summary.address)", above: UserPage.above(user.summary),
            effects: [
                "You get all stored data of the user as a JSON file, with the number and the data of \(cards(user)).",
                "The audit log records the access with your name, your role and the reason.",
            ],
            form: request.form(to: path(user, "export"), [.reason], submit: "Export"))
    }

    static func erasure(_ user: Administration.UserDetail, _ request: ConsoleRequest) -> Confirmation {
        Confirmation(
            title: "Erase \(user.summary.address)", above: UserPage.above(user.summary),
            effects: [
                "\(Markup.bounded(user.sessions.count, "session")) will end at once, on every node.",
                "The number, the data of \(cards(user)), and the user's other data will be deleted.",
                "The user's data key will be deleted too, so copies of the store become unreadable.",
            ],
            form: request.form(
                to: path(user, "erase"), [.reason, .sure], submit: "Erase the user", isDangerous: true))
    }

    private static func cards(_ user: Administration.UserDetail) -> Markup {
        .count(user.cards.values.reduce(0, +), "card")
    }

    /// The number of devices with an open session.
    private static func devices(_ user: Administration.UserDetail) -> Markup {
        .count(Set(user.sessions.map(\.deviceID)).count, "device")
    }
}

/// The end of one session.
enum SessionActions {
    static let routes: [ConsoleRoute] = [
        .page("/sessions/{}/end", .support, cost: .read, isPersonal: true) { request in
            let session = try await request.administration.readSession(id(request))
            try request.look(at: [session.userID])
            return .page(ending(session, request).page)
        },
        .action("/sessions/{}/end", .support, cost: .write) { request in
            let id = try id(request)
            try await request.administration.endSession(id, reason: request.reason())
            return .seeOther(Links.user(try await request.administration.readSession(id).userID))
        },
    ]

    private static func id(_ request: ConsoleRequest) throws(Refusal) -> SessionID {
        guard let id = SessionID(request.name) else { throw Refusal.notAnID("session") }
        return id
    }

    static func ending(_ session: Session, _ request: ConsoleRequest) -> Confirmation {
        Confirmation(
            title: "End session \(session.id)",
            above: [
                Links.search,
                Page.Link(session.externalID, Links.user(session.userID)),
            ],
            effects: [
                "1 session of <bdi>\(session.externalID)</bdi>, last used at \(.time(session.lastUsedAt)), will end.",
                "The user may sign in again.",
            ],
            form: request.form(
                to: Links.session(session.id).appending("end"), [.reason], submit: "End the session",
                isDangerous: true))
    }
}
