import Domain
import Operations

/// Search, users, their sessions and devices.
enum UserPages {
    static let routes: [ConsoleRoute] =
        SearchPages.routes + [page] + UserActions.routes + SessionActions.routes + DevicePages.routes

    private static let page = ConsoleRoute.page("/users/{}", .support, cost: .read, query: ["after"], isPersonal: true)
    { request in
        let administration = request.administration
        let cursor = request.value("after")
        let (detail, history) = try await administration.readUserWithHistory(
            request.name, limit: UserTimeline.limit + 1, after: cursor)
        try request.look(at: [detail.summary.user.id])
        return .page(
            UserPage(
                detail: detail, timeline: UserTimeline(history, after: cursor), role: request.administrator.role,
                lifetimes: request.parts.service.policy[\.sessions], now: request.now
            ).page)
    }
}
