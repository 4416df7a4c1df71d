import Domain
import Encoding
import Foundation
import HTTPTypes
import Hummingbird
import Operations

/// Reading, changing and erasing a user's own data. Client listener, with a session.
struct UserRoutes: Sendable {
    let service: Service
    let addresses: AddressRoutes
    let calls: CallRoutes
    let apps: UserAppRoutes

    /// - Parameter turnSecret: the secret that the TURN servers share with the service; `nil` if there is none.
    init(_ service: Service, turnSecret: Secret<String>? = nil) {
        self.service = service
        addresses = AddressRoutes(service)
        calls = CallRoutes(service, secret: turnSecret)
        apps = UserAppRoutes(service: service)
    }

    func add(to router: ListedRouter<ClientContext>, behind session: RequireSession) {
        addresses.add(to: router, behind: session)
        calls.add(to: router, behind: session)
        apps.add(to: router, behind: session)
        let protected = router.group("me").behind(session)
        protected.get(cost: .read) { _, context in answer(try await service.readProfile(try context.checkedSession)) }
        protected.patch(cost: .write) { request, context in
            var members = try await request.members(upTo: service.policy[\.requests].maximumBody)
            let storage = try members.optionalString("message_storage").map(Self.storage)
            let presence = try members.optionalString("presence").map(Self.visibility)
            let endpoints = try members.pushEndpoints(isRequired: storage == nil && presence == nil)
            try members.rejectUnknown()
            let session = try context.checkedSession
            let change = Service.ProfileChange(endpoints: endpoints, storage: storage, presence: presence)
            try await service.changeProfile(change, for: session)
            return answer(try await service.readProfile(session))
        }
        let own = router.group("me").behind(ExportTokenMiddleware(service: service, session: session))
        own.get("export", cost: .heavy) { _, context in
            try await context.carrier.reserve(upTo: PersonalExport.usualSize)
            var response = Response(status: .ok)
            let held =
                if let user = context.exportUser {
                    try await service.exportPersonalData(of: user, on: try context.connection)
                } else {
                    try await service.exportPersonalData(for: try context.checkedSession)
                }
            response.setJSON(held.json, type: "application/json")
            response.headers[.cacheControl] = "no-store"
            return response
        }
        own.delete(cost: .write) { _, context in
            let receipt =
                if let user = context.exportUser {
                    try await service.erasePersonalData(of: user, on: try context.connection)
                } else {
                    try await service.erasePersonalData(for: try context.checkedSession)
                }
            return Response.json(status: .accepted, ["receipt": .string(receipt.uuidString.lowercased())])
        }
    }

    private static func storage(_ text: String) throws(Refusal) -> MessageStorage {
        guard let storage = MessageStorage(rawValue: text) else { throw Refusal.unknownMessageStorage }
        return storage
    }

    private static func visibility(_ text: String) throws(Refusal) -> PresenceVisibility {
        guard let visibility = PresenceVisibility(rawValue: text) else {
            throw Refusal.unknownChoice(of: "presence", PresenceVisibility.self)
        }
        return visibility
    }

    private func answer(_ own: Service.Profile) -> Response {
        let proved = own.proved
        return .json([
            "user_id": .id(own.user.id), "address": .string(own.address), "phone_number": .text(proved?.phoneNumber),
            "postal_address": .text(proved?.postalAddress), "full_name": .text(proved?.fullName),
            "age": own.age.map { .integer(Int64($0)) } ?? .null, "document_number": .text(proved?.documentNumber),
            "jurisdiction": .text(proved?.jurisdiction), "push_endpoint": .text(own.endpoints?.usual),
            "call_endpoint": .text(own.endpoints?.calls), "assurance": .string(own.user.assurance.rawValue),
            "phone_verified_at": .text(proved?.phoneVerifiedAt.rfc3339),
            "identity_verified_at": .text(proved?.identityVerifiedAt?.rfc3339),
            "suspended": .text(proved?.suspended?.rawValue), "message_storage": .string(own.storage.rawValue),
            "presence": .string(own.presence.rawValue),
        ])
    }
}

extension JSONBodyDecoder {
    /// Reads `push_endpoint` and `call_endpoint`: at least one of them. `null` removes an endpoint.
    ///
    /// - Parameter isRequired: whether one must be there. Otherwise it may be `nil`.
    fileprivate mutating func pushEndpoints(isRequired: Bool) throws(Refusal) -> PushEndpointChange? {
        let hasCalls = peek("call_endpoint") != nil
        let hasUsual = peek("push_endpoint") != nil || (isRequired && !hasCalls)
        guard hasUsual || hasCalls else { return nil }
        let usual: String?? = hasUsual ? .some(try nullableString("push_endpoint")) : .none
        let calls: String?? = hasCalls ? .some(try nullableString("call_endpoint")) : .none
        return PushEndpointChange(usual: usual, calls: calls)
    }
}

/// Accepts an export token instead of a session. Without either the session is required.
struct ExportTokenMiddleware: RouterMiddleware {
    let service: Service
    let session: RequireSession

    func handle(
        _ request: Request, context: ClientContext, next: (Request, ClientContext) async throws -> Response
    ) async throws -> Response {
        guard case .export(let token) = try AuthorizationHeader(request.headers.text(of: .authorization)) else {
            return try await session.handle(request, context: context, next: next)
        }
        var context = context
        let user = try service.admitExportToken(token, on: try context.connection)
        context.exportUser = user
        context.carriedBy?.act(for: user)
        return try await next(request, context)
    }
}
