import Foundation
import HTTPTypes
import Hummingbird
import Identity
import Operations

/// What providers are told and what they tell, on the public listener.
public struct WebhookRoutes: Sendable {
    let authenticate: AuthenticateProvider
    let webhook: ManageWebhook
    let receive: ReceiveProviderEvent
    let policy: CurrentPolicy

    /// Holds what the routes ask.
    public init(
        authenticate: AuthenticateProvider, webhook: ManageWebhook, receive: ReceiveProviderEvent, policy: CurrentPolicy
    ) {
        self.authenticate = authenticate
        self.webhook = webhook
        self.receive = receive
        self.policy = policy
    }

    func add(to router: some RouterMethods<PublicContext>) {
        router.get("provider/webhook") { request, _ in
            let known = try await authenticate(request.bearer)
            return Response.json(["url": .string(try await webhook(known.provider.id))])
        }
        router.put("provider/webhook", use: set)
        router.delete("provider/webhook") { request, _ in
            let (known, _) = try await authenticate.fresh(request.bearer, body: [])
            try await webhook.remove(of: known.provider.id)
            return Response(status: .noContent)
        }
        // The token is its own proof: RFC 8935 §2 asks for no other.
        router.post("provider/events") { request, _ in
            try await receive(try await request.securityEventToken(upTo: policy[\.requests].maximumBody))
            return Response(status: .accepted)
        }
    }

    @Sendable private func set(_ request: Request, _ context: PublicContext) async throws -> Response {
        let body = try await request.bytes(upTo: policy[\.requests].maximumBody)
        let (known, _) = try await authenticate.fresh(request.bearer, body: body)
        var members = try request.members(body)
        let url = try members.string("url")
        try members.finish()
        return .json(["url": .string(try await webhook.set(url, of: known.provider.id))])
    }
}
