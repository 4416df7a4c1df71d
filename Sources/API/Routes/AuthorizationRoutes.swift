import Domain
import Encoding
import Foundation
import HTTPTypes
import Hummingbird
import Metrics
import Operations

/// Authorizations to message between users, and blocks. Client listener, with a session.
struct AuthorizationRoutes: Sendable {
    let service: Service

    func add(to router: ListedRouter<ClientContext>, behind session: RequireSession) {
        let protected = router.group("authorizations").behind(session)
        protected.post(cost: .write, use: request)
        protected.get(cost: .read, query: ["box", "state", "cursor"], use: list)
        protected.get(":id", cost: .read) { _, context in
            reply(
                try await service.readAuthorization(
                    try context.parameters.require("id"), to: try context.checkedSession))
        }
        protected.post(":id/approval", cost: .write) { _, context in
            try await counted(
                service.approveAuthorization(try context.parameters.require("id"), for: try context.checkedSession))
        }
        protected.post(":id/rejection", cost: .write) { _, context in
            try await counted(
                service.rejectAuthorization(try context.parameters.require("id"), for: try context.checkedSession))
        }
        protected.post(":id/cancellation", cost: .write) { _, context in
            try await counted(
                service.cancelAuthorization(try context.parameters.require("id"), for: try context.checkedSession))
        }
        protected.post(":id/block", cost: .write) { _, context in
            try await service.blockRequester(of: try context.parameters.require("id"), for: try context.checkedSession)
            return Response(status: .noContent)
        }
        protected.delete(":id/block", cost: .write) { _, context in
            try await service.unblockRequester(
                of: try context.parameters.require("id"), for: try context.checkedSession)
            return Response(status: .noContent)
        }
        let blocks = router.group("blocks").behind(session)
        blocks.put(":id", cost: .write) { _, context in
            try await service.blockUser(try context.parameters.require("id"), for: try context.checkedSession)
            return Response(status: .noContent)
        }
        blocks.delete(":id", cost: .write) { _, context in
            try await service.unblockUser(try context.parameters.require("id"), for: try context.checkedSession)
            return Response(status: .noContent)
        }
    }

    @Sendable private func request(_ request: Request, _ context: ClientContext) async throws -> Response {
        var members = try await request.members(upTo: service.policy[\.requests].maximumBody)
        let wanted = try Service.PermissionRequest(
            id: try members.string("id"), to: try members.string("to"),
            eventID: try members.optionalString("event_id"))
        try members.rejectUnknown()
        let id = try await service.requestPermission(wanted, for: try context.checkedSession)
        count(.request)
        // Also for a repeated request whose state has changed since: the same call gets the same response.
        return .json(
            status: .created, ["id": .id(id), "state": .string(MessagingPermission.State.request.rawValue)])
    }

    @Sendable private func list(_ request: Request, _ context: ClientContext) async throws -> Response {
        let query = request.uri.queryParameters
        let filter = try Service.AuthorizationFilter(
            box: query["box"].map(String.init), state: query["state"].map(String.init),
            cursor: query["cursor"].map(String.init))
        try await context.carrier.reserve(upTo: Service.AuthorizationPage.largest)
        let page = try await service.listAuthorizations(filter, for: try context.checkedSession)
        return .json([
            "authorizations": .array(page.views.map(Self.row)), "cursor": .text(page.cursor),
        ])
    }

    private func counted(_ view: AuthorizationView) -> Response {
        count(view.authorization.state)
        return reply(view)
    }

    private func reply(_ view: AuthorizationView) -> Response {
        var response = Response(status: .ok)
        response.setJSON(Self.row(view), type: "application/json")
        response.headers[.cacheControl] = "no-store"
        return response
    }

    private func count(_ state: MessagingPermission.State) {
        Counter(label: "authorizations", dimensions: [("state", state.rawValue)]).increment()
    }

    private static func row(_ view: AuthorizationView) -> JSONValue {
        let authorization = view.authorization
        return .object([
            "id": .id(authorization.id), "box": .string(view.box.rawValue),
            "state": .string(authorization.state.rawValue), "created_at": .string(authorization.createdAt.rfc3339),
            "expires_at": authorization.state == .request ? .string(authorization.expiresAt.rfc3339) : .null,
            "changed_at": .string(authorization.changedAt.rfc3339), "to": .text(view.to),
            "event_id": .text(view.eventID), "grant": .text(view.grant),
            "block": view.box == .incoming ? .string("/authorizations/\(authorization.id)/block") : .null,
            "partner": view.partner.map { partner in
                .object([
                    "user_id": partner.profile.map { .id($0.userID) } ?? .null,
                    "address": .text(partner.profile?.address),
                    "display_name": .text(partner.profile?.displayName),
                    "initials": .text(partner.initials), "age": partner.age.map { .integer(Int64($0)) } ?? .null,
                    "picture_url": .text(partner.pictureURL), "assurance": .string(partner.assurance.rawValue),
                    "push_endpoint": .text(partner.pushEndpoint),
                ])
            } ?? .null,
        ])
    }
}
