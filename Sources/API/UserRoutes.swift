import Foundation
import HTTPTypes
import Hummingbird
import Identity
import Operations

/// What users may see, change and erase of themselves, on the client listener behind a session.
public struct UserRoutes: Sendable {
    let serve: ServeUser
    let policy: CurrentPolicy

    /// Holds what the routes ask.
    public init(serve: ServeUser, policy: CurrentPolicy) {
        self.serve = serve
        self.policy = policy
    }

    func add(to router: some RouterMethods<ClientContext>, behind session: RequireSession) {
        let protected = router.group("me").add(middleware: session)
        protected.get { _, context in answer(try await serve(try context.checkedSession)) }
        protected.patch { request, context in
            var members = try await request.members(upTo: policy[\.requests].maximumBody)
            let endpoint = try members.nullableString("push_endpoint")
            try members.finish()
            let session = try context.checkedSession
            try await serve.setPushEndpoint(endpoint, for: session)
            return answer(try await serve(session))
        }
        protected.get("export") { _, context in
            var response = Response(status: .ok)
            response.setJSON(try await serve.export(for: try context.checkedSession).json, type: "application/json")
            response.headers[.cacheControl] = "no-store"
            return response
        }
        protected.delete { _, context in
            let receipt = try await serve.erase(for: try context.checkedSession)
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
