import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import SampleBackend

/// How a browser gets the right to write: the app asks for a ticket and opens the page with it, and the page exchanges
/// it for the ticket of a WebSocket, and for its next one.
struct BrowserRoutes: Sendable {
    let sockets: SocketRoute
    let tickets: Tickets
    let events: SecurityEvents
    private let issues = Limiter(60, per: 3600)

    /// The lifetime in seconds of a ticket for one step, and of a browser's session. A session is that long only if
    /// Countersign reports its end. Otherwise it ends with the app's token.
    private static let stepLifetime: TimeInterval = 60, sessionLifetime: TimeInterval = 8 * 3600

    init(sockets: SocketRoute, tickets: Tickets, events: SecurityEvents) {
        (self.sockets, self.tickets, self.events) = (sockets, tickets, events)
    }

    /// `POST /ticket` of the app → `201` `ticket`, the page's `path` with it, and when the browser's session ends.
    func addIssue(to device: Router<SampleContext>) {
        device.post("ticket") { request, context in
            let caller = try await sockets.verify(request, context)
            try await issues.count(caller.user)
            let now = Date()
            let grant = Tickets.Grant(
                caller: caller,
                until: events.isReceiving ? now.addingTimeInterval(Self.sessionLifetime) : caller.expiresAt)
            let ticket = try tickets.issue(grant, for: .renewal, until: now.addingTimeInterval(Self.stepLifetime))
            return try Response.json(
                Issued(ticket: ticket, path: "/#ticket=\(ticket)", expiresAt: Int64(grant.until.timeIntervalSince1970)),
                status: .created)
        }
    }

    /// `POST /ticket {"ticket"}` and `DELETE /ticket {"ticket"}` of the page.
    func addExchange(to plain: Router<SampleContext>) {
        plain.post("ticket") { request, context in
            let grant = try await redeem(request, context)
            return try Response.json(
                Exchanged(
                    user: grant.caller.user,
                    socket: try tickets.issue(
                        grant, for: .socket, until: Date().addingTimeInterval(Self.stepLifetime)),
                    ticket: try tickets.issue(grant, for: .renewal, until: grant.until),
                    expiresAt: Int64(grant.until.timeIntervalSince1970)))
        }
        plain.delete("ticket") { request, context in
            _ = try await redeem(request, context)
            return Response(status: .noContent)
        }
    }

    private struct Issued: Encodable {
        let ticket, path: String
        let expiresAt: Int64
    }

    private struct Exchanged: Encodable {
        let user, socket, ticket: String
        let expiresAt: Int64
    }

    private func redeem(_ request: Request, _ context: SampleContext) async throws -> Tickets.Grant {
        struct Fields: Decodable { let ticket: String }
        let fields = try await request.decode(as: Fields.self, context: context)
        guard let grant = tickets.redeem(fields.ticket, for: .renewal), !sockets.verify.isEnded(grant.caller) else {
            throw HTTPError(.forbidden, message: "the ticket is unknown, used or expired: open the page from the app")
        }
        return grant
    }

    /// `live/{forum}?ticket=…` on the plain listener.
    @Sendable func admit(_ path: String, _ authorization: String?, _ channel: any Channel) async -> SocketVerdict {
        let url = URLComponents(string: path)
        let parts = (url?.path ?? "").split(separator: "/")
        let ticket = url?.queryItems?.first { $0.name == "ticket" }?.value
        guard parts.count == 2, parts[0] == "live", let id = UUID(uuidString: String(parts[1])) else {
            return .refused(.notFound)
        }
        guard let ticket, let grant = tickets.redeem(ticket, for: .socket), !sockets.verify.isEnded(grant.caller) else {
            return .refused(.forbidden)
        }
        guard let forum = try? await sockets.board.store.forum(id) else { return .refused(.notFound) }
        guard await sockets.board.live.hasRoom(for: grant.caller.user) else { return .refused(.tooManyRequests) }
        return .open { socket in await sockets.serve(socket, grant.caller, forum: forum.id, until: grant.until) }
    }
}
