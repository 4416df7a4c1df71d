import Domain
import Encoding
import Foundation
import HTTPTypes
import Hummingbird
import Metrics
import Operations

/// Presentations of credentials by wallets. Client listener, with a session.
struct PresentationRoutes: Sendable {
    let service: Service

    init(_ service: Service) {
        self.service = service
    }

    func add(to router: ListedRouter<ClientContext>, behind session: RequireSession) {
        let presentations = router.group("identity-cards/presentations").behind(session)
        presentations.post(cost: .write, use: open)
        presentations.post(":id", cost: .write, use: answer)
        presentations.get(":id", cost: .read) { _, context in
            let (progress, reason) = try await service.readPresentation(
                try context.parameters.require("id"), for: try context.checkedSession)
            return .json(["state": .string(progress.rawValue), "reason": .text(reason)])
        }
        presentations.delete(":id", cost: .write) { _, context in
            try await service.deletePresentation(
                try context.parameters.require("id"), for: try context.checkedSession)
            return Response(status: .noContent)
        }
    }

    /// How the app reaches the wallet.
    private enum Channel: String, CaseIterable {
        /// The Digital Credentials API of a web page, or the Credential Manager of Android.
        case digitalCredentials = "dc_api"
    }

    @Sendable private func open(_ request: Request, _ context: ClientContext) async throws -> Response {
        var members = try await request.members(upTo: service.policy[\.requests].maximumBody)
        let (channel, want) = (try members.string("channel"), try members.string("want"))
        let origin = try members.string("origin")
        try members.rejectUnknown()
        guard Channel(rawValue: channel) != nil else { throw Refusal.unknownChoice(of: "channel", Channel.self) }
        guard let wanted = Presentation.Wanted(rawValue: want) else {
            throw Refusal.unknownChoice(of: "want", Presentation.Wanted.self)
        }
        let opened = try await service.openPresentation(wanted, origin: origin, for: try context.checkedSession)
        // The members of `navigator.credentials.get`, which the app hands over unchanged.
        let requests: [(Presentation.WalletProtocol, JSONValue)] = [
            (.openID4VP, .object(["request": .string(opened.requestObject)])),
            (
                .isoDocument,
                .object([
                    "deviceRequest": .string(opened.deviceRequest), "encryptionInfo": .string(opened.encryptionInfo),
                ])
            ),
        ]
        return .json(
            status: .created,
            [
                "id": .id(opened.id), "expires_at": .string(opened.expiresAt.rfc3339),
                "requests": .array(
                    requests.map { .object(["protocol": .string($0.rawValue), "data": $1]) }),
            ])
    }

    @Sendable private func answer(_ request: Request, _ context: ClientContext) async throws -> Response {
        var members = try await request.members(upTo: service.policy[\.requests].maximumBody)
        let (name, data) = (try members.string("protocol"), try members.value("data"))
        try members.rejectUnknown()
        guard let walletProtocol = Presentation.WalletProtocol(rawValue: name), let response = data["response"]?.text
        else { throw Refusal.presentationFormUnknown }
        do {
            let outcome = try await service.answerPresentation(
                try context.parameters.require("id"), WalletAnswer(walletProtocol, response: response),
                for: try context.checkedSession)
            count("accepted")
            switch outcome {
            case .card(let card): return CardRoutes.answer(card, .created)
            case .age(let id, let wanted, let isReached):
                return .json(status: .created, ["id": .id(id), wanted.rawValue: .bool(isReached)])
            }
        } catch let refusal as Refusal where [.presentationRejected, .cardRejected].contains(refusal.code) {
            count("refused")
            throw refusal
        }
    }

    private func count(_ outcome: String) {
        Counter(label: "presentations", dimensions: [("outcome", outcome)]).increment()
    }
}
