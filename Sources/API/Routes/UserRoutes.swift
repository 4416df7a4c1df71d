import Domain
import Encoding
import Foundation
import HTTPTypes
import Hummingbird
import Operations

/// What users may see, change and erase of themselves, on the client listener behind a session.
package struct UserRoutes: Sendable {
    let serve: ServeUser
    let policy: CurrentPolicy

    /// Holds what the routes ask.
    package init(serve: ServeUser, policy: CurrentPolicy) {
        self.serve = serve
        self.policy = policy
    }

    func add(to router: some RouterMethods<ClientContext>, behind session: RequireSession) {
        let protected = router.group("me").add(middleware: session)
        protected.get { _, context in answer(try await serve(try context.checkedSession)) }
        protected.patch { request, context in
            var members = try await request.members(upTo: policy[\.requests].maximumBody)
            let endpoint = try members.nullableString("push_endpoint")
            try members.rejectUnknown()
            let session = try context.checkedSession
            try await serve.setPushEndpoint(endpoint, for: session)
            return answer(try await serve(session))
        }
        let own = router.group("me").add(middleware: AdmitExportToken(serve: serve, session: session))
        own.get("export") { _, context in
            var response = Response(status: .ok)
            let export =
                if let user = context.exportUser { try await serve.export(of: user, on: try context.connection) } else {
                    try await serve.export(for: try context.checkedSession)
                }
            response.setJSON(export.json, type: "application/json")
            response.headers[.cacheControl] = "no-store"
            return response
        }
        own.delete { _, context in
            let receipt =
                if let user = context.exportUser { try await serve.erase(user, on: try context.connection) } else {
                    try await serve.erase(for: try context.checkedSession)
                }
            return Response.json(status: .accepted, ["receipt": .string(receipt.uuidString.lowercased())])
        }
    }

    private func answer(_ own: ServeUser.Own) -> Response {
        let proved = own.proved
        return .json([
            "user_id": .id(own.user.id), "address": .string(own.address), "phone_number": .text(proved?.phoneNumber),
            "postal_address": .text(proved?.postalAddress), "full_name": .text(proved?.fullName),
            "age": own.age.map { .integer(Int64($0)) } ?? .null, "document_number": .text(proved?.documentNumber),
            "jurisdiction": .text(proved?.jurisdiction), "push_endpoint": .text(proved?.pushEndpoint),
            "assurance": .string(own.user.assurance.rawValue),
            "phone_verified_at": .text(proved?.phoneVerifiedAt.rfc3339),
            "identity_verified_at": .text(proved?.identityVerifiedAt?.rfc3339),
            "suspended": .text(proved?.suspended?.rawValue),
        ])
    }
}

/// Lets an export token pass where a session would, and everything else to what looks for a session.
struct AdmitExportToken: RouterMiddleware {
    let serve: ServeUser
    let session: RequireSession

    func handle(
        _ request: Request, context: ClientContext, next: (Request, ClientContext) async throws -> Response
    ) async throws -> Response {
        guard case .export(let token) = try AuthorizationHeader(request.headers[.authorization]) else {
            return try await session.handle(request, context: context, next: next)
        }
        var context = context
        context.exportUser = try serve.holder(of: token, on: try context.connection)
        return try await next(request, context)
    }
}
