import Domain
import Encoding
import Foundation
import HTTPTypes
import Hummingbird
import Operations

/// Providers' receivers of events, and providers' own events. Public listener.
package struct WebhookRoutes: Sendable {
    let authenticate: AuthenticateProvider
    let webhook: ManageWebhook
    let test: TestWebhook
    let receive: ReceiveProviderEvent
    let policy: CurrentPolicy

    /// - Parameter allowingLoopback: permits receivers on this machine.
    package init(_ context: Service, allowingLoopback: Bool) {
        authenticate = AuthenticateProvider(context)
        webhook = ManageWebhook(context, allowingLoopback: allowingLoopback)
        test = TestWebhook(context)
        receive = ReceiveProviderEvent(context)
        policy = context.policy
    }

    func add(to router: ListedRouter<PublicContext>) {
        let router = router.ofProviders
        router.get("provider/webhook", cost: .read) { request, context in
            let caller = try await authenticate(request.bearer, for: .ssfRead, in: request.named, at: context.cost)
            return Response.json(["url": .string(try await webhook(caller.id))])
        }
        router.put("provider/webhook", cost: .write, use: set)
        router.delete("provider/webhook", cost: .write) { request, context in
            let caller = try await authenticate.fresh(
                request.bearer, beside: try request.countersignProof, for: request.proven([]), at: context.cost)
            try await webhook.remove(by: caller)
            return Response(status: .noContent)
        }
        router.post("provider/webhook/test", cost: .write) { request, context in
            let caller = try await authenticate(request.bearer, for: .ssfManage, in: request.named, at: context.cost)
            return Response.json(status: .accepted, ["jti": .string(try await test(by: caller))])
        }
        // The token authenticates itself: RFC 8935 §2 requires no other authentication.
        router.post("provider/events", cost: .write) { request, context in
            let token = try await request.securityEventToken(upTo: policy[\.requests].maximumBody)
            try await receive(token, at: context.cost)
            return Response(status: .accepted)
        }
    }

    @Sendable private func set(_ request: Request, _ context: PublicContext) async throws -> Response {
        let body = try await request.bytes(upTo: policy[\.requests].maximumBody)
        let caller = try await authenticate.fresh(
            request.bearer, beside: try request.countersignProof, for: request.proven(body), at: context.cost)
        var members = try request.members(body)
        let url = try members.string("url")
        try members.rejectUnknown()
        return .json(["url": .string(try await webhook.set(url, by: caller))])
    }
}

extension Request {
    /// The request that a fresh proof must name.
    func proven(_ body: [UInt8]) -> ProvenRequest {
        ProvenRequest(method: method.rawValue, path: uri.path, query: uri.query, body: body)
    }

    /// The request that a bearer token may name; its body has not been read yet.
    var named: ProvenRequest { proven([]) }

    /// The fresh proof in addition to an access token.
    var countersignProof: String? {
        get throws(Refusal) {
            let fields = headers[values: .countersignProof]
            guard fields.count <= 1 else {
                throw Refusal.severalFields("Countersign-Proof")
            }
            return fields.first
        }
    }
}

extension HTTPField.Name {
    static let countersignProof = known("Countersign-Proof")
}
