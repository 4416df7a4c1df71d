import Domain
import Encoding
import Foundation
import HTTPTypes
import Hummingbird
import Operations

/// Providers' receivers of events, and providers' own events. Public listener.
struct WebhookRoutes: Sendable {
    let service: Service
    /// Whether receivers may be on this machine.
    let allowsLoopback: Bool

    func add(to router: ListedRouter<PublicContext>) {
        let router = router.ofProviders
        router.get("provider/webhook", cost: .read) { request, context in
            let caller = try await service.caller(of: request, for: .ssfRead, at: context.cost)
            return Response.json(["url": .string(try await service.webhook(of: caller.id))])
        }
        router.put("provider/webhook", cost: .write, use: set)
        router.delete("provider/webhook", cost: .write) { request, context in
            try await service.removeWebhook(by: try await service.changer(of: request, at: context.cost))
            return Response(status: .noContent)
        }
        router.post("provider/webhook/test", cost: .write) { request, context in
            let caller = try await service.caller(of: request, for: .ssfManage, at: context.cost)
            return Response.json(status: .accepted, ["jti": .string(try await service.testWebhook(by: caller))])
        }
        // The token authenticates itself: RFC 8935 §2 requires no other authentication.
        router.post("provider/events", cost: .write) { request, context in
            let token = try await request.securityEventToken(upTo: service.policy[\.requests].maximumBody)
            try await service.receiveProviderEvent(token, at: context.cost)
            return Response(status: .accepted)
        }
    }

    @Sendable private func set(_ request: Request, _ context: PublicContext) async throws -> Response {
        let body = try await request.bytes(upTo: service.policy[\.requests].maximumBody)
        let caller = try await service.changer(of: request, body, at: context.cost)
        var members = try request.members(body)
        let url = try members.string("url")
        try members.rejectUnknown()
        let set = try await service.setWebhook(url, by: caller, allowingLoopback: allowsLoopback)
        return .json(["url": .string(set)])
    }
}
