import Crypto
import Database
import Delivery
import Domain
import Encoding
import Foundation
import Repositories
import Tokens

/// Puts a Security Event Token together at the moment when it is sent, and sends it.
package struct NotifyProvider: Sendable {
    private let realm: String
    private let key: P256.Signing.PrivateKey
    private let keyID: String
    private let send: @Sendable (_ token: String, _ url: String) async -> DeliveryOutcome

    /// Tells in a realm's name.
    ///
    /// - Parameters:
    ///   - keyID: the `kid` under which the service publishes the key.
    ///   - send: makes one attempt at one receiver.
    package init(
        realm: String, key: P256.Signing.PrivateKey, keyID: String,
        send: @escaping @Sendable (_ token: String, _ url: String) async -> DeliveryOutcome
    ) {
        self.realm = realm
        self.key = key
        self.keyID = keyID
        self.send = send
    }

    /// What there is to say, and to whom.
    func content(of message: OutboxMessage, in transaction: any Transaction) throws -> OutboxContent {
        guard let provider = ProviderID(message.subject[...]),
            let url = try ProviderWebhookRepository(transaction).find(provider)
        else { return .overtaken("the provider has no webhook") }
        guard let event = ProviderEvent(jsonText: message.payload),
            let user = try UserRepository(transaction).find(message.userID)
        else { return .unreadable("the event cannot be read") }
        let token = SecurityEventToken(
            identifier: message.id.description, realm: realm, provider: provider, externalID: user.externalID,
            event: event, happenedAt: message.createdAt)
        return .event(try token.signed(with: key, keyID: keyID, now: transaction.now), url)
    }

    /// Writes what an attempt says of the receiver.
    ///
    /// - Returns: the provider whose receiver is left alone from now on; `nil` where it is not.
    func settle(
        _ message: OutboxMessage, _ content: OutboxContent, _ result: OutboxMessage.Result,
        in transaction: any Transaction
    ) throws -> ProviderID? {
        guard case .event(_, let url) = content, let provider = ProviderID(message.subject[...]) else { return nil }
        let answered =
            switch result {
            case .sent, .refused: true
            case .unavailable, .overtaken, .endpointGone: false
            }
        let rests = try ProviderWebhookRepository(transaction).note(answered: answered, by: url, of: provider)
        return rests ? provider : nil
    }

    func attempt(_ token: String, _ url: String) async -> DeliveryOutcome {
        await send(token, url)
    }
}
