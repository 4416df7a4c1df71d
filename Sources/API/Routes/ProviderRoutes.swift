import Domain
import Encoding
import Foundation
import HTTPTypes
import Hummingbird
import Operations

/// The calls of provider backends, on the public listener.
struct ProviderRoutes: Sendable {
    let service: Service

    func add(to router: ListedRouter<PublicContext>) {
        let router = router.ofProviders
        router.get("provider", cost: .read) { request, context in
            describe(try await service.caller(of: request, for: nil, at: context.cost).known)
        }
        router.post("provider/keys", cost: .write, use: addKey)
        router.delete("provider/keys/:key_id", cost: .write, query: ["sessions"], use: deleteKey)
        router.get("provider/users/:external_id", cost: .read) { request, context in
            let caller = try await service.caller(of: request, for: .usersRead, at: context.cost)
            return describe(try await service.readUserClaims(try externalID(context), of: caller.id))
        }
        router.get("provider/user-ids/:user_id", cost: .read) { request, context in
            let caller = try await service.caller(of: request, for: .usersRead, at: context.cost)
            let id = try context.parameters.require("user_id")
            return describe(try await service.readUserClaims(of: id, at: caller.id))
        }
        router.get("provider/users/:external_id/history", cost: .read, query: ["cursor"]) { request, context in
            let caller = try await service.caller(of: request, for: .sessionsRead, at: context.cost)
            let cursor = request.uri.queryParameters["cursor"].map(String.init)
            return Self.describe(
                try await service.readUserHistory(try externalID(context), of: caller.id, after: cursor))
        }
        router.delete("provider/users/:external_id/sessions", cost: .write) { request, context in
            let caller = try await service.caller(of: request, for: .sessionsEnd, at: context.cost)
            try await service.endUserSessions(of: try externalID(context), at: caller)
            return Response(status: .noContent)
        }
        router.post("provider/users/:external_id/notifications", cost: .write, use: notifyUser)
        router.post("provider/token-check", cost: .read, use: checkToken)
    }

    @Sendable private func notifyUser(_ request: Request, _ context: PublicContext) async throws -> Response {
        let caller = try await service.caller(of: request, for: .usersNotify, at: context.cost)
        let body = try await request.bytes(
            upTo: min(UserNotification.maximumSize, service.policy[\.requests].maximumBody))
        var members = try request.members(body)
        let notification = try UserNotification(
            id: try members.string("id"), title: try members.optionalString("title"),
            body: try members.optionalString("body"), data: try members.optionalValue("data"))
        try members.rejectUnknown()
        try await service.notifyUser(notification, to: try externalID(context), by: caller)
        return .json(status: .accepted, ["id": .string(notification.id)])
    }

    @Sendable private func addKey(_ request: Request, _ context: PublicContext) async throws -> Response {
        let body = try await request.bytes(upTo: service.policy[\.requests].maximumBody)
        let caller = try await service.changer(of: request, body, at: context.cost)
        var members = try request.members(body)
        let keyText: String
        switch try members.value("public_key") {
        case .string(let pem): keyText = pem
        case .object(let jwk): keyText = JSONValue.object(jwk).jsonText
        default: throw Refusal.memberMustBe("a PEM text or a JWK", "public_key")
        }
        let algorithm = try members.optionalString("alg")
        let proof = try members.string("proof")
        try members.rejectUnknown()
        let id = try await service.addOwnKey(keyText: keyText, algorithm: algorithm, proof: proof, by: caller)
        return .json(status: .created, ["key_id": .id(id)])
    }

    @Sendable private func deleteKey(_ request: Request, _ context: PublicContext) async throws -> Response {
        let caller = try await service.changer(of: request, at: context.cost)
        let endingSessions: Bool
        switch request.uri.queryParameters["sessions"] {
        case nil, "keep": endingSessions = false
        case "end": endingSessions = true
        default: throw Refusal.parameterMustBe("keep or end", "sessions")
        }
        guard let id = ProviderKeyID(try context.parameters.require("key_id")[...]) else {
            throw Refusal.unknownOwnKey
        }
        try await service.revokeOwnKey(id, endingSessions: endingSessions, by: caller)
        return Response(status: .noContent)
    }

    @Sendable private func checkToken(_ request: Request, _ context: PublicContext) async throws -> Response {
        let caller = try await service.caller(of: request, for: .sessionsRead, at: context.cost)
        var members = try await request.members(upTo: service.policy[\.requests].maximumBody)
        let token = try members.string("identity_token")
        try members.rejectUnknown()
        let result = try await service.checkIdentityToken(token, for: caller)
        let defects = result.defects.map {
            JSONValue.object(["reason": .string($0.reason.rawValue), "detail": .string($0.detail)])
        }
        let ignored = result.ignored.map {
            JSONValue.object(["claim": .string($0.name), "detail": .string($0.detail)])
        }
        return .json([
            "valid": .bool(result.defects.isEmpty), "defects": .array(defects), "ignored": .array(ignored),
            "clock_skew_seconds": result.clockSkew.map { .integer(Int64($0)) } ?? .null,
        ])
    }

    private func describe(_ found: Service.UserClaims) -> Response {
        func over(_ years: Int) -> JSONValue { found.isOver(years).map { .bool($0) } ?? .null }
        return .json([
            "user_id": .id(found.user.id), "external_id": .string(found.user.externalID),
            "assurance": .string(found.user.assurance.rawValue), "age_over_18": over(18), "age_over_21": over(21),
            "initials": .text(found.initials), "banned": .bool(found.isBanned),
        ])
    }

    private func describe(_ known: CachedProvider) -> Response {
        let provider = known.provider
        return .json([
            "provider_id": .id(provider.id), "slug": .string(provider.slug.text), "name": .string(provider.name),
            "apps": .array(known.applications.map { .object(["app_id": .id($0.id), "name": .string($0.name)]) }),
            "keys": .array(
                known.keyRecords.map { key in
                    let state = key.revokedAt != nil ? "revoked" : key.retiredAt != nil ? "retired" : "active"
                    return .object([
                        "key_id": .id(key.id), "alg": .string(key.algorithm),
                        "added_by": .string(key.origin.rawValue), "state": .string(state),
                        "created_at": .string(key.createdAt.rfc3339),
                    ])
                }),
        ])
    }

    private func externalID(_ context: PublicContext) throws -> String {
        let raw = try context.parameters.require("external_id")
        return raw.removingPercentEncoding ?? raw
    }
}
