import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import SampleBackend

/// The calls of signed-in devices: `Authorization: Bearer` with a session's token, on the connection of the device that
/// the token is bound to. The routes have the names of the original server.
struct DeviceRoutes: Sendable {
    let board: Board
    let verify: SessionVerifier
    let avatars: Avatars
    let tickets: Tickets
    private let creations = Limiter(20, per: 3600)

    init(board: Board, verify: SessionVerifier, avatars: Avatars, tickets: Tickets) {
        (self.board, self.verify, self.avatars, self.tickets) = (board, verify, avatars, tickets)
    }

    func router() -> Router<SampleContext> {
        let router = Router(context: SampleContext.self)
        router.post("auth/login", use: logIn)
        for prefix in ["", "auth/"] {
            router.get("\(prefix)whoami", use: whoAmI)
            router.post("\(prefix)logout", use: logOut)
        }
        router.get("avatar") { request, context in
            _ = try await verify(request, context)
            return try await avatars.picture(request)
        }
        router.put("avatar") { request, context in
            let caller = try await verify(request, context)
            return try await avatars.change(request, context, of: caller.user)
        }
        router.get("forum") { request, context in
            _ = try await verify(request, context)
            return try await board.forums(request)
        }
        router.post("forum", use: create)
        router.get("forum/:id") { request, context in
            _ = try await verify(request, context)
            return try await board.forum(try context.uuid("id"))
        }
        router.get("forum/:id/image") { request, context in
            _ = try await verify(request, context)
            return try await board.image(of: try context.uuid("id"))
        }
        router.get("forum/:id/message") { request, context in
            _ = try await verify(request, context)
            return try await board.messages(request, of: try context.uuid("id"))
        }
        router.post("forum/:id/message") { request, context in
            let caller = try await verify(request, context)
            let draft = try await request.decode(as: Board.Draft.self, context: context)
            return try Response.json(
                try await board.post(draft, to: try context.uuid("id"), by: caller.user), status: .created)
        }
        router.get("subscription") { request, context in
            let caller = try await verify(request, context)
            return try Response.json(try await board.store.subscriptions(of: caller.user))
        }
        router.post("subscription", use: subscribe)
        router.delete("subscription/:id") { request, context in
            let caller = try await verify(request, context)
            let id = try context.uuid("id")
            guard try await board.store.unsubscribe(id, of: caller.user) else { throw HTTPError(.notFound) }
            await board.live.close { $0.subscription == id }
            return Response(status: .noContent)
        }
        router.get("websocket/:id") { request, context -> Response in
            // A request without a WebSocket upgrade.
            let caller = try await verify(request, context)
            guard try await board.store.subscription(try context.uuid("id"), of: caller.user) != nil else {
                throw HTTPError(.notFound, message: "unknown subscription")
            }
            throw HTTPError(
                .init(code: 426, reasonPhrase: "Upgrade Required"), headers: [.upgrade: "websocket"],
                message: "this route requires a WebSocket upgrade")
        }
        return router
    }

    private struct Me: Encodable {
        let username: String
        let expiresAt: Int64

        init(_ caller: Caller) {
            username = caller.user
            expiresAt = Int64(caller.expiresAt.timeIntervalSince1970)
        }
    }

    /// `POST auth/login`: the session at Countersign is the log-in. The original took a password here. This forum never
    /// sees one.
    @Sendable private func logIn(_ request: Request, _ context: SampleContext) async throws -> Response {
        struct Fields: Decodable { let password: String? }
        if let fields = try? await request.decode(as: Fields.self, context: context), fields.password != nil {
            throw HTTPError(.badRequest, message: "send no password here: sign in at Countersign")
        }
        return try .json(Me(try await verify(request, context)))
    }

    @Sendable private func whoAmI(_ request: Request, _ context: SampleContext) async throws -> Response {
        try .json(Me(try await verify(request, context)))
    }

    /// Refuses the session's earlier tokens from now on, and closes its WebSockets, those in browsers too. The session
    /// at Countersign continues.
    @Sendable private func logOut(_ request: Request, _ context: SampleContext) async throws -> Response {
        let caller = try await verify(request, context)
        let end = SecurityEvents.SessionEnd.session(caller.session)
        verify.refuse(end)
        tickets.drop(end)
        await board.live.close { end.applies(to: $0.caller) }
        return Response(status: .noContent)
    }

    /// `POST forum` `title`, `description`, `imageURL` → `201`; `409` if the title is taken; `400` if the picture
    /// cannot be fetched.
    @Sendable private func create(_ request: Request, _ context: SampleContext) async throws -> Response {
        struct Fields: Decodable { let title, description, imageURL: String? }
        let caller = try await verify(request, context)
        let fields = try await request.decode(as: Fields.self, context: context)
        let title = try plainText(fields.title, "title", limit: 255)
        let description = try fields.description.map {
            $0.isEmpty ? "" : try plainText($0, "description", limit: 2000, allowsLines: true)
        }
        try await creations.count(caller.user)
        let image = try await avatars.images.fetch(fields.imageURL)
        let made = try await Board.explaining {
            try await board.store.create(title, description ?? "", image, by: caller.user)
        }
        return try .json(made, status: .created)
    }

    /// `POST subscription` `forum` → `201` with the id for `websocket/{id}`.
    @Sendable private func subscribe(_ request: Request, _ context: SampleContext) async throws -> Response {
        struct Fields: Decodable { let forum: UUID }
        let caller = try await verify(request, context)
        let fields = try await request.decode(as: Fields.self, context: context)
        let made = try await Board.explaining { try await board.store.subscribe(caller.user, to: fields.forum) }
        return try .json(made, status: .created)
    }
}
