import Foundation
import HTTPTypes

/// What a user's wallet is asked for.
public enum WalletClaim: String, Sendable, Hashable {
    /// The name, birthday and number of a document, which become a card. It needs a proven phone number.
    case identity
    /// Whether the user is at least 18 years old. Only the answer is stored, if it is yes.
    case over18 = "age_over_18"
    case over21 = "age_over_21"
}

/// A request to a wallet by one protocol, for the platform's call.
public struct WalletRequest: Sendable, Hashable, Decodable {
    /// The protocol: `openid4vp-v1-signed` or `org-iso-mdoc`.
    public let name: String
    /// The members of the request. Hand them over unchanged.
    public let data: [String: String]

    private enum CodingKeys: String, CodingKey {
        case data
        case name = "protocol"
    }
}

/// The answer of a wallet, as the platform's call returns it.
public struct WalletResponse: Sendable, Hashable, Encodable {
    let name: String
    let data: [String: String]

    private enum CodingKeys: String, CodingKey {
        case data
        case name = "protocol"
    }

    /// - Parameters:
    ///   - name: the protocol of the request that the wallet answered.
    ///   - response: the member `response` of the answer's data.
    public init(name: String, response: String) {
        self.name = name
        data = ["response": response]
    }
}

/// What a presentation proved about the user.
public enum WalletResult: Sendable, Hashable {
    case card(CardResult)
    /// Whether the user has reached the age.
    case age(Bool)
}

extension CardProof {
    private struct Begun: Decodable {
        let id: UUID
        let requests: [WalletRequest]
    }

    private struct Linked: Decodable {
        let id: UUID
        let url: URL
    }

    private struct Age: Decodable {
        let over18: Bool?
        let over21: Bool?

        private enum CodingKeys: String, CodingKey {
            case over18 = "age_over_18"
            case over21 = "age_over_21"
        }
    }

    /// Asks the user's wallet for a credential, and sends its answer to the service.
    ///
    /// If the user declines, throw an error from the closure. The request is then deleted.
    ///
    /// - Parameters:
    ///   - claim: what the wallet presents.
    ///   - origin: the origin of the page, or the name of the native app, that calls the wallet. It is registered with the
    ///     service.
    ///   - wallet: calls the wallet with the requests: `navigator.credentials.get` on a page, or the Credential Manager of
    ///     Android.
    /// - Throws: `presentation_rejected` with the reason; for an identity also `card_rejected`, and `conflict` before a phone
    ///   number is proven; `rate_limited`; what the closure throws.
    public func present(
        _ claim: WalletClaim, origin: String,
        wallet: @Sendable ([WalletRequest]) async throws -> WalletResponse
    ) async throws -> WalletResult {
        let begun: Begun = try await client.perform(
            Call(.post, Self.presentations, json: ["channel": "dc_api", "want": claim.rawValue, "origin": origin]))
        let response = try await deleting(begun.id) { try await wallet(begun.requests) }
        return try await result(of: claim, by: response, to: begun.id)
    }

    /// Asks a wallet on this device for a credential, by a link.
    ///
    /// If the user declines, throw an error from the closure. The request is then deleted.
    ///
    /// - Parameters:
    ///   - claim: what the wallet presents.
    ///   - address: the link by which the wallet returns to this app. It is registered with the service, and the platform
    ///     opens it in this app.
    ///   - open: opens the wallet's link, and waits for the link by which the wallet returns.
    /// - Throws: as ``present(_:origin:wallet:)``; `not_found` if the wallet returned with the code of another request.
    public func present(
        _ claim: WalletClaim, returningTo address: URL, open: @Sendable (URL) async throws -> URL
    ) async throws -> WalletResult {
        let begun: Linked = try await client.perform(
            Call(
                .post, Self.presentations,
                json: ["channel": "same_device", "want": claim.rawValue, "return_to": address.absoluteString]))
        let returned = try await deleting(begun.id) { try await open(begun.url) }
        let prefix = "response_code="
        let code = returned.fragment.flatMap { $0.hasPrefix(prefix) ? String($0.dropFirst(prefix.count)) : nil }
        return try await result(of: claim, by: ["response_code": code ?? ""], to: begun.id)
    }

    private static let presentations = "/identity-cards/presentations"

    /// What the user does in the wallet. If that fails, the request is deleted, because only a few may be open.
    private func deleting<Answer>(_ id: UUID, unless answer: () async throws -> Answer) async throws -> Answer {
        do {
            return try await answer()
        } catch {
            try? await client.send(Call(.delete, "\(Self.presentations)/\(id.path)"))
            throw error
        }
    }

    private func result(
        of claim: WalletClaim, by body: some Encodable, to id: UUID
    ) async throws -> WalletResult {
        // A second answer would be refused, so it is not repeated if the service's response is lost.
        let call = Call(.post, "\(Self.presentations)/\(id.path)", body: body, isRepeatable: false)
        guard claim != .identity else { return .card(try await client.perform(call)) }
        let age: Age = try await client.perform(call)
        return .age(age.over18 ?? age.over21 ?? false)
    }
}
