import Delivery
import Domain

/// The content of an outbox message at the time of sending.
enum OutboxContent: Sendable {
    case message(Message)
    /// A Security Event Token and its receiver.
    case event(SecurityEventDelivery)
    /// The message is no longer needed, for this reason.
    case overtaken(String)
    /// This node cannot read it now, such as with a key that it does not have yet.
    case unreadable(String)
}

/// One attempt at one receiver.
package struct SecurityEventDelivery: Sendable {
    package let token: String
    package let url: String
    /// The provider that the receiver belongs to.
    package let provider: ProviderID
    /// The `Authorization` header for the receiver; `nil` for none.
    package let authorization: Secret<String>?
    /// The stream; `nil` for the provider's webhook.
    let stream: EventStreamID?

    init(
        token: String, url: String, of provider: ProviderID, authorization: Secret<String>? = nil,
        stream: EventStreamID? = nil
    ) {
        self.token = token
        self.url = url
        self.provider = provider
        self.authorization = authorization
        self.stream = stream
    }
}
