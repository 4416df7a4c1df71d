import Domain

/// All pages and actions of the console. A test walks them for each role.
enum ConsoleRoutes {
    static let all: [ConsoleRoute] = [
        StartPage.routes, UserPages.routes, BanPages.routes, ActPages.routes, ReviewPages.routes, ProviderPages.routes,
        OutboxPages.routes, AuditPages.routes, PolicyPages.routes, NodePages.routes,
    ].flatMap(\.self)

    /// The pages that every page names, in this order. Those without a route, or without the right, are left out.
    private static let main: [(text: String, path: StaticString)] = [
        ("Start", "/"), ("Search", "/search"), ("Review", "/review"), ("Bans", "/bans"),
        ("Waiting acts", "/acts"), ("Providers", "/providers"), ("Outbox", "/outbox"), ("Audit log", "/audit"),
        ("Policies", "/policies"), ("Nodes", "/nodes"),
    ]

    /// The links to the pages that a role permits.
    static func navigation(of role: AdminRole) -> [Page.Link] {
        main.compactMap { text, path in
            let isThere = all.contains {
                $0.kind == .page && $0.path.description == path.description && role.includes($0.right)
            }
            return isThere ? Page.Link(text, PagePath(path)) : nil
        }
    }
}
