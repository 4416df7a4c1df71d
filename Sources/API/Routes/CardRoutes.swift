import Domain
import Encoding
import Foundation
import HTTPTypes
import Hummingbird
import Metrics
import Operations

/// Identity cards. Client listener, with a session.
struct CardRoutes: Sendable {
    let service: Service
    /// Queries the service that confirms a card's data; `nil` if there is none.
    let askIssuer: AskIssuer?

    func add(to router: ListedRouter<ClientContext>, behind session: RequireSession) {
        PresentationRoutes(service).add(to: router, behind: session)
        let protected = router.group("identity-cards").behind(session)
        protected.post(cost: .write, use: submitCard)
        protected.get(":id", cost: .read) { _, context in
            Self.answer(
                try await service.readCard(try context.parameters.require("id"), to: try context.checkedSession), .ok)
        }
    }

    /// The members with the content of a card, one for each form of cards. A request has exactly one of them.
    private static let forms: [(member: String, input: @Sendable (String) -> Service.CardInput)] = [
        ("aamva", { .aamva($0) }), ("mrz", { .mrz($0) }),
    ]

    @Sendable private func submitCard(_ request: Request, _ context: ClientContext) async throws -> Response {
        var members = try await request.members(upTo: service.policy[\.requests].maximumBody)
        let inputs = try Self.forms.compactMap { form in try members.optionalString(form.member).map(form.input) }
        try members.rejectUnknown()
        guard let input = inputs.first, inputs.count == 1 else {
            throw Refusal.oneMemberOf(Self.forms.map(\.member))
        }
        do {
            let evaluated = try await service.submitCard(
                input, for: try context.checkedSession, askIssuer: askIssuer)
            count(evaluated.status.rawValue)
            return Self.answer(evaluated, .created)
        } catch let refusal as Refusal where refusal.code == .cardRejected {
            count("rejected")
            throw refusal
        }
    }

    private func count(_ status: String) {
        Counter(label: "cards", dimensions: [("status", status)]).increment()
    }

    static func answer(_ evaluated: Service.EvaluatedCard, _ status: HTTPResponse.Status) -> Response {
        let facts = evaluated.facts
        return .json(
            status: status,
            [
                "id": .id(evaluated.id), "status": .string(evaluated.status.rawValue),
                "assurance": .string(evaluated.assurance.rawValue), "checks": CardCheck.json(evaluated.checks),
                "issuer_signature": .string(facts.issuerSignature.state.rawValue),
                "card": .object([
                    "full_name": .string(facts.fullName), "date_of_birth": .string(facts.dateOfBirth.text),
                    "age": .integer(Int64(evaluated.age)), "address": facts.address.map(Self.address) ?? .null,
                    "document_number": .string(facts.lastFour), "jurisdiction": .text(facts.jurisdiction),
                    "expires_on": .string(facts.expiresOn.text),
                ]),
            ])
    }

    private static func address(_ address: PostalAddress) -> JSONValue {
        .object([
            "street": .text(address.street), "city": .text(address.city), "jurisdiction": .text(address.jurisdiction),
            "postal_code": .text(address.postalCode), "country": .text(address.country),
        ])
    }
}

extension JSONValue {
    /// A JSON text, or `null`.
    static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
}
