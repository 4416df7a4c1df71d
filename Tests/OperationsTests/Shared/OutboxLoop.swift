import Crypto
import Delivery
import Domain
import Operations

extension DeliverOutbox {
    /// The loop of a node. By default a text is its code, and every receiver and carrier takes what it gets.
    init(
        of node: Service, writeText: @escaping @Sendable (PhoneTextParts) -> String? = { $0.code },
        events: @escaping @Sendable (SecurityEventDelivery) async -> DeliveryOutcome = { _ in .sent(reference: "") },
        send: @escaping @Sendable (Message, OutboxMessageID) async -> DeliveryOutcome = { _, _ in .sent(reference: "") }
    ) {
        self.init(
            node, writeText: writeText, events: NotifyProvider(node, key: .init(), keyID: "key", send: events),
            send: send)
    }
}
