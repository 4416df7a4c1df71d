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
            let (state, reason) = try await service.readPresentation(
                try context.parameters.require("id"), for: try context.checkedSession)
            return .json(["state": .string(state.rawValue), "reason": .text(reason)])
        }
        presentations.delete(":id", cost: .write) { _, context in
            try await service.deletePresentation(
                try context.parameters.require("id"), for: try context.checkedSession)
            return Response(status: .noContent)
        }
    }

    @Sendable private func open(_ request: Request, _ context: ClientContext) async throws -> Response {
        var members = try await request.members(upTo: service.policy[\.requests].maximumBody)
        guard let channel = Presentation.Channel(rawValue: try members.string("channel")) else {
            throw Refusal.unknownChoice(of: "channel", Presentation.Channel.self)
        }
        guard let wanted = Presentation.Wanted(rawValue: try members.string("want")) else {
            throw Refusal.unknownChoice(of: "want", Presentation.Wanted.self)
        }
        let place = try members.string(channel == .sameDevice ? "return_to" : "origin")
        try members.rejectUnknown()
        let session = try context.checkedSession
        switch channel {
        case .digitalCredentials:
            return Self.json(try await service.openPresentation(wanted, origin: place, for: session))
        case .sameDevice:
            let (id, end, url) = try await service.openRedirect(wanted, returningTo: place, for: session)
            return .json(
                status: .created, ["id": .id(id), "expires_at": .string(end.rfc3339), "url": .string(url)])
        }
    }

    private static func json(_ opened: OpenedPresentation) -> Response {
        // The members of `navigator.credentials.get`, which the app hands over unchanged.
        var requests: [(Presentation.WalletProtocol, JSONValue)] = [
            (.openID4VP, .object(["request": .string(opened.requestObject)]))
        ]
        if let (request, info) = opened.isoDocument {
            let data = JSONValue.object(["deviceRequest": .string(request), "encryptionInfo": .string(info)])
            requests.append((.isoDocument, data))
        }
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
        let answer = try Self.answer(&members)
        try members.rejectUnknown()
        let (id, session) = (try context.parameters.require("id"), try context.checkedSession)
        do {
            let outcome =
                switch answer {
                case .shown(let answer): try await service.answerPresentation(id, answer, for: session)
                case .code(let code): try await service.redeemResponse(id, code: code, for: session)
                }
            Self.count("accepted")
            switch outcome {
            case .card(let card): return CardRoutes.answer(card, .created)
            case .age(let id, let wanted, let isReached):
                return .json(status: .created, ["id": .id(id), wanted.rawValue: .bool(isReached)])
            }
        } catch let refusal as Refusal where [.presentationRejected, .cardRejected].contains(refusal.code) {
            Self.count("refused")
            throw refusal
        }
    }

    /// What the app sends: the wallet's answer, or the code with which the wallet returned.
    private enum Answer {
        case shown(WalletAnswer)
        case code(String)
    }

    private static func answer(_ members: inout JSONBodyDecoder) throws(Refusal) -> Answer {
        if let code = try members.optionalString("response_code") { return .code(code) }
        let (name, data) = (try members.string("protocol"), try members.value("data"))
        guard let walletProtocol = Presentation.WalletProtocol(rawValue: name), let response = data["response"]?.text
        else { throw Refusal.presentationFormUnknown }
        return .shown(WalletAnswer(walletProtocol, response: response))
    }

    static func count(_ outcome: String) {
        Counter(label: "presentations", dimensions: [("outcome", outcome)]).increment()
    }
}
