import AsyncHTTPClient
import Domain
import Encoding
import Foundation

/// Queries an operator's service whether a card's issuer confirms the card's data. It is a hook for verification
/// services such as AAMVA's DLDV, which answer by match indicators and never by data.
///
/// The request is `POST {"type":"card.check","timestamp","data":{…}}`, signed by Standard Webhooks. The response is
/// `200 {"matches":{"document_number":true,…}}` with one boolean for each member that the issuer compared.
package struct IssuerCheck: Sendable {
    private let url: ServiceURL
    private let keys: [WebhookKey]
    private let http: BoundedHTTPClient
    private let now: @Sendable () -> Date

    /// The members that must match before a card is confirmed; any other member can only contradict.
    private static let needed = ["document_number", "full_name", "date_of_birth", "expires_on"]

    static func verdict(_ matches: JSONValue) -> IssuerConfirmation {
        guard case .object(let members) = matches else { return .unanswered }
        var contradicted: [String] = []
        var confirmed: Set<String> = []
        for member in members where names.contains(member.name) {
            switch member.value {
            case .bool(true): confirmed.insert(member.name)
            case .bool(false): contradicted.append(member.name)
            default: return .unanswered
            }
        }
        guard contradicted.isEmpty else { return .contradicted(contradicted) }
        return confirmed.isSuperset(of: needed) ? .confirmed : .unanswered
    }
}

package extension IssuerCheck {
    /// The hook that the policy names; `nil` if it names none.
    ///
    /// - Parameters:
    ///   - secret: reads a file in `Keys/` by its name.
    ///   - http: a client made with `AsyncHTTPClient/HTTPClient/Configuration/delivery(_:)`, which outlives the hook.
    ///   - now: the clock for signatures.
    /// - Throws: ``DeliveryError``, or what `secret` throws.
    init?(
        _ policy: CardPolicy, secret: (_ file: String) throws -> String, http: HTTPClient,
        now: @escaping @Sendable () -> Date
    ) throws {
        guard !policy.issuerCheckURL.isEmpty else { return nil }
        guard let url = ServiceURL(policy.issuerCheckURL) else {
            throw DeliveryError.policy("issuer_check_url", expected: "an https URL, or an http URL on loopback,")
        }
        self.url = url
        keys = try WebhookKey.list(try secret(policy.issuerCheckSecretFile), file: policy.issuerCheckSecretFile)
        self.http = BoundedHTTPClient(http: http, timeout: policy.issuerCheckTimeout)
        self.now = now
    }

    /// Sends the query under an id. An invalid response, or one without a needed member, is `IssuerConfirmation/unanswered`.
    func callAsFunction(_ facts: CardFacts, id: UUID) async -> IssuerConfirmation {
        let time = now()
        let body = Array(Self.question(facts, at: time).jsonText.utf8)
        let headers =
            [(name: "Content-Type", value: "application/json")] + keys.headers(id: id, at: time, body: body)
        guard case .answered(200, let answer?) = await http.post(body, to: url.web, headers: headers),
            let matches = (try? StrictJSON.parse(answer))?["matches"]
        else { return .unanswered }
        return Self.verdict(matches)
    }

    private static let names = Set(needed + ["postal_address", "postal_code", "jurisdiction"])

    private static func question(_ facts: CardFacts, at time: Date) -> JSONValue {
        func text(_ text: String?) -> JSONValue? { text.map { .string($0) } }
        let data = JSONValue.object([
            "document_number": text(facts.documentNumber), "full_name": text(facts.fullName),
            "date_of_birth": text(facts.dateOfBirth.text), "expires_on": text(facts.expiresOn.text),
            "jurisdiction": text(facts.jurisdiction), "country": text(facts.country),
            "postal_address": text(facts.address?.line), "postal_code": text(facts.address?.postalCode),
        ])
        return .object(["type": .string("card.check"), "timestamp": .string(time.rfc3339), "data": data])
    }
}
