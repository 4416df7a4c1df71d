import Crypto
import Database
import Delivery
import Domain
import Encoding
import Foundation
import Repositories
import Tokens

/// Builds and sends a Security Event Token at the time of sending.
package struct NotifyProvider: Sendable {
    private let service: Service
    private let key: P256.Signing.PrivateKey
    private let keyID: String
    private let send: @Sendable (SecurityEventDelivery) async -> DeliveryOutcome

    /// Sends tokens whose issuer is a service's realm.
    ///
    /// - Parameters:
    ///   - keyID: the `kid` under which the service publishes the key.
    ///   - send: makes one attempt at one receiver.
    package init(
        _ service: Service, key: P256.Signing.PrivateKey, keyID: String,
        send: @escaping @Sendable (SecurityEventDelivery) async -> DeliveryOutcome
    ) {
        self.service = service
        self.key = key
        self.keyID = keyID
        self.send = send
    }

    /// The token and its receiver, for a message in the outbox.
    func content(of message: OutboxMessage, in transaction: any Transaction) throws -> OutboxContent {
        guard let provider = ProviderID(message.subject[...]),
            let url = try ProviderWebhookRepository(transaction).find(provider)
        else { return try contentOfStream(message, in: transaction) }
        let token: SecurityEventToken
        if case (.verification(let state), _)? = StreamEvent.parse(message.payload) {
            token = SecurityEventToken(
                identifier: message.id.description, realm: service.realm, provider: provider, externalID: nil,
                event: .verification(state: state), happenedAt: message.createdAt)
        } else {
            guard let event = ProviderEvent(jsonText: message.payload),
                let user = try UserRepository(transaction).find(message.userID)
            else { return .unreadable("the event cannot be read") }
            token = SecurityEventToken(
                identifier: message.id.description, realm: service.realm, provider: provider,
                externalID: user.externalID,
                event: .happened(event), happenedAt: message.createdAt)
        }
        return .event(
            SecurityEventDelivery(
                token: try token.signed(with: key, keyID: keyID, now: transaction.now), url: url, of: provider))
    }

    /// The token and its receiver, for a stream with push delivery.
    private func contentOfStream(
        _ message: OutboxMessage, in transaction: any Transaction
    ) throws -> OutboxContent {
        let streams = EventStreamRepository(transaction)
        guard let id = EventStreamID(message.subject[...]), let stream = try streams.find(id) else {
            return .overtaken("the provider has no such receiver")
        }
        guard case .push(let url) = stream.settings.delivery else { return .unreadable("the stream is polled now") }
        guard !stream.awaitsApproval else { return .unreadable("the push address is not approved") }
        guard let event = try service.unsignedEvent(message, of: stream, in: transaction) else {
            return .unreadable("the event cannot be read")
        }
        let header = try streams.authorization(of: id, keys: service.keys.personal)
        return .event(
            SecurityEventDelivery(
                token: try event.signed(), url: url, of: stream.provider, authorization: header, stream: id))
    }

    /// Records the result of an attempt for its receiver. A receiver that no longer exists gets no further events.
    ///
    /// - Returns: the provider whose receiver is paused from now on; `nil` if it is not paused.
    func settle(
        _ content: OutboxContent, _ result: OutboxMessage.Result, in transaction: any Transaction,
        _ recorded: inout RecordedEvents
    ) throws -> ProviderID? {
        guard case .event(let delivery) = content else { return nil }
        let (answered, asked): (Bool, TimeInterval?)
        switch result {
        case .sent, .refused: (answered, asked) = (true, nil)
        case .unavailable(_, let retryAfter): (answered, asked) = (false, retryAfter)
        case .overtaken, .endpointGone: (answered, asked) = (false, nil)
        case .receiverGone:
            try stop(delivery, in: transaction, &recorded)
            return nil
        }
        if let stream = delivery.stream {
            return try EventStreamRepository(transaction).note(
                answered: answered, by: delivery.url, of: stream, asked: asked)
        }
        let rests = try ProviderWebhookRepository(transaction).note(
            answered: answered, by: delivery.url, of: delivery.provider, asked: asked)
        return rests ? delivery.provider : nil
    }

    /// Removes the webhook, or disables the stream and drops its events. A receiver that was changed meanwhile stays.
    private func stop(
        _ delivery: SecurityEventDelivery, in transaction: any Transaction, _ recorded: inout RecordedEvents
    ) throws {
        guard let id = delivery.stream else {
            if try ProviderWebhookRepository(transaction).remove(delivery.provider, at: delivery.url) {
                recorded.record(.webhookRemoved(delivery.provider, by: nil), by: "service")
            }
            return
        }
        let streams = EventStreamRepository(transaction)
        guard let stream = try streams.find(id), stream.settings.delivery == .push(delivery.url),
            try streams.disable(id, because: "The receiver answered 410: it is gone. What waited was dropped.")
        else { return }
        try StreamQueueRepository(transaction, of: id).clear()
        recorded.record(.eventStreamDisabled(id, stream.provider), by: "service")
        recorded.record(.eventsWait(in: id))
    }

    func attempt(_ delivery: SecurityEventDelivery) async -> DeliveryOutcome { await send(delivery) }
}
