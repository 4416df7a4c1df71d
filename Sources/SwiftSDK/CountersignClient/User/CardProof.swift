import Foundation
import HTTPTypes

/// The proof of an identity by a card.
public struct CardProof: Sendable {
    let client: Countersign

    /// The content read from a card.
    public enum Reading: Sendable, Hashable {
        /// The text of the barcode of a driver's licence (AAMVA, PDF417), with its line feeds.
        case aamva(String)
        /// The lines of a machine-readable zone (ICAO 9303).
        case mrz([String])
    }

    /// Submits a card. Each submission is counted, so it is not repeated if the response is lost.
    ///
    /// - Throws: `card_rejected` with the checks; `conflict` before a phone number is proven; `rate_limited`.
    public func submit(_ reading: Reading) async throws(Refusal) -> CardResult {
        let json: [String: String?] =
            switch reading {
            case .aamva(let text): ["aamva": Data(text.utf8).base64URL]
            case .mrz(let lines): ["mrz": lines.joined(separator: "\n")]
            }
        return try await client.perform(Call(.post, "/identity-cards", json: json))
    }

    /// The current state of a card in review.
    public func result(_ id: UUID) async throws(Refusal) -> CardResult {
        try await client.perform(Call(.get, "/identity-cards/\(id.path)"))
    }
}

/// The result for a card.
public struct CardResult: Sendable, Hashable, Decodable {
    public let id: UUID
    /// The card's status: `verified`, `in_review` or `rejected`.
    public let status: String
    public let assurance: Assurance
    public let checks: [Check]
    /// The signature that some issuers write into a barcode: `none`, `present` (not verified), `unreadable`, `verified`
    /// or `invalid`. `nil` from a service that does not report it.
    public let issuerSignature: String?

    private enum CodingKeys: String, CodingKey {
        case id, status, assurance, checks
        case issuerSignature = "issuer_signature"
    }

    public struct Check: Sendable, Hashable, Decodable {
        public let name: String
        /// The check's result: `passed`, `failed` or `not_applicable`.
        public let result: String
        public let detail: String
    }
}

extension Countersign {
    /// Proves an identity by a card.
    public nonisolated var card: CardProof { CardProof(client: self) }
}
