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
        let path = "/identity-cards/presentations"
        let begun: Begun = try await client.perform(
            Call(.post, path, json: ["channel": "dc_api", "want": claim.rawValue, "origin": origin]))
        let response: WalletResponse
        do {
            response = try await wallet(begun.requests)
        } catch {
            // The user may begin only a few at the same time.
            try? await client.send(Call(.delete, "\(path)/\(begun.id.path)"))
            throw error
        }
        // A second answer would be refused, so it is not repeated if the service's response is lost.
        let call = Call(.post, "\(path)/\(begun.id.path)", body: response, isRepeatable: false)
        guard claim != .identity else { return .card(try await client.perform(call)) }
        let age: Age = try await client.perform(call)
        return .age(age.over18 ?? age.over21 ?? false)
    }
}
