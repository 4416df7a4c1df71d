import Domain
import Encoding
import Foundation
import HTTPTypes
import Hummingbird
import Metrics
import NIOCore
import Operations

/// Nonces and sessions, on the client listener.
struct SessionRoutes: Sendable {
    let service: Service
    private let noncesIssued = Counter(label: "nonces_issued")

    func add(to router: ListedRouter<ClientContext>) {
        router.post("nonces", cost: .free) { _, context in
            var body = ByteBuffer()
            writeNonce(for: try context.connection, to: &body)
            return Response.json(status: .created, body)
        }
        router.get("nonce", cost: .free) { _, _ -> Response in
            throw Refusal.nonceInChallenge
        }
        router.post("sessions", cost: .write, use: create)
        router.post("sessions/resume", cost: .write, use: resumeSession)
        router.post("sessions/renew", cost: .write, use: renewSession)
        router.delete("sessions/current", cost: .write) { request, context in
            try await service.endSession(try token(of: request), on: try context.connection)
            return Response(status: .noContent)
        }
        let protected = router.group().behind(RequireSession(service, allowsIdentityToken: true))
        protected.get("sessions/current", cost: .read, use: current)
        let plain = router.group().behind(RequireSession(service, allowsIdentityToken: false))
        plain.get("sessions", cost: .read, use: listSessions)
        plain.delete("sessions/:id", cost: .write) { _, context in
            try await service.endOtherSession(try context.parameters.require("id"), by: try context.checkedSession)
            return Response(status: .noContent)
        }
    }

    @Sendable private func create(_ request: Request, _ context: ClientContext) async throws -> Response {
        var members = try await request.members(upTo: service.policy[\.requests].maximumBody)
        let identityToken = try members.string("identity_token")
        let applicationID = try members.optionalString("app_id")
        try members.rejectUnknown()
        let opened = try await service.openSession(
            identityToken: identityToken, applicationID: applicationID, on: try context.connection)
        opened.count()
        var response = answer(opened, .created)
        response.headers[values: .layerUserID] = [opened.session.userID.description]
        response.headers[values: .layerSessionToken] = [opened.token?.text.reveal() ?? ""]
        response.headers[values: .layerSessionTTL] = [String(opened.lifetime)]
        return response
    }

    @Sendable private func resumeSession(_ request: Request, _ context: ClientContext) async throws -> Response {
        var members = try await request.members(upTo: service.policy[\.requests].maximumBody)
        let userID = try members.string("user_id")
        let sessionToken = try members.string("session_token")
        try members.rejectUnknown()
        return answer(
            try await service.resumeSession(userID: userID, sessionToken: sessionToken, on: try context.connection), .ok
        )
    }

    @Sendable private func renewSession(_ request: Request, _ context: ClientContext) async throws -> Response {
        let sessionToken = try token(of: request)
        var members = try await request.members(upTo: service.policy[\.requests].maximumBody)
        let identityToken = try members.string("identity_token")
        try members.rejectUnknown()
        let renewed = try await service.renewSession(
            sessionToken: sessionToken, identityToken: identityToken, on: try context.connection)
        renewed.count()
        return answer(renewed, .ok)
    }

    @Sendable private func current(_ request: Request, _ context: ClientContext) async throws -> Response {
        var body = ByteBuffer()
        write(try context.checkedSession, on: try context.connection, to: &body)
        return .json(body)
    }

    /// Writes the body of a response with a new nonce.
    func writeNonce(for connection: ClientConnection, to body: inout ByteBuffer) {
        let (nonce, expiresAt) = service.issueNonce(connection)
        noncesIssued.increment()
        body.writeNonce(nonce, expiresAt: expiresAt)
    }

    /// Writes the body of a response about the session of the request's token.
    func write(_ session: Session, on connection: ClientConnection, to body: inout ByteBuffer) {
        body.writeSession(session, on: connection, policy: service.sessionPolicy)
    }

    @Sendable private func listSessions(_ request: Request, _ context: ClientContext) async throws -> Response {
        let session = try context.checkedSession
        let policy = service.policy[\.sessions]
        let sessions = try await service.listSessions(for: session).map { other, state in
            JSONValue.object([
                "id": .id(other.id), "device_id": .id(other.deviceID), "app_id": .id(other.applicationID),
                "state": .string(state.rawValue), "created_at": .string(other.createdAt.rfc3339),
                "last_used_at": .string(other.lastUsedAt.rfc3339),
                "expires_at": .string(other.expiry(policy: policy).rfc3339),
                "current": .bool(other.id == session.id),
            ])
        }
        return .json(["sessions": .array(sessions)])
    }

    private func token(of request: Request) throws(Refusal) -> String {
        switch try AuthorizationHeader(request.headers.text(of: .authorization)) {
        case .session(let token): return token
        case .identity:
            throw Refusal.identityTokenForSession
        case .none, .export:
            throw Refusal.sessionTokenRequired
        }
    }

    private func answer(_ opened: Service.OpenedSession, _ status: HTTPResponse.Status) -> Response {
        let session = opened.session
        return .json(
            status: status,
            [
                "session_id": .id(session.id), "user_id": .id(session.userID), "address": .string(opened.address),
                "session_token": opened.token.map { .string($0.text.reveal()) },
                "ttl": .integer(Int64(opened.lifetime)), "idle_ttl": .integer(Int64(opened.idleLifetime)),
                "expires_at": .string(opened.expiresAt.rfc3339), "assurance": .string(opened.assurance.rawValue),
                "cnf": .object(["x5t#S256": .string(session.thumbprint.base64URL)]),
            ])
    }
}
