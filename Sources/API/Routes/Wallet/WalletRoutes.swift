import Domain
import Encoding
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Operations

/// What a wallet on the same device calls (OpenID4VP 1.0 §5.10 and §8.2). Public listener, without authentication. Nothing
/// here is answered by a redirect.
struct WalletRoutes: Sendable {
    let service: Service

    func add(to router: ListedRouter<PublicContext>) {
        let wallet = router.group("wallet").ignoringUnknownParameters
        wallet.get("requests/:request", cost: .read) { _, context in
            try await signed(context, walletNonce: nil)
        }
        wallet.post("requests/:request", cost: .write) { request, context in
            let form = try await request.form(upTo: service.policy[\.requests].maximumBody)
            return try await signed(context, walletNonce: form["wallet_nonce"])
        }
        wallet.post("responses/:request", cost: .write, use: receive)
    }

    private func signed(_ context: PublicContext, walletNonce: String?) async throws -> Response {
        let object = try await service.readRequestObject(
            try context.parameters.require("request"), walletNonce: walletNonce)
        return Response(
            status: .ok, headers: [.contentType: "application/oauth-authz-req+jwt", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: object)))
    }

    @Sendable private func receive(_ request: Request, _ context: PublicContext) async throws -> Response {
        let form = try await request.form(upTo: service.policy[\.requests].maximumBody)
        // Anybody who saw the request could send an error, so it ends nothing.
        if form["error"] != nil { return .json([:]) }
        do {
            let link = try await service.receiveResponse(
                try form.required("response"), to: try context.parameters.require("request"))
            return .json(["redirect_uri": .string(link)])
        } catch let refusal as Refusal where refusal.code == .presentationRejected {
            PresentationRoutes.count("refused")
            throw refusal
        }
    }
}
