import Delivery
import Domain

/// What a message of the outbox comes to when it is to be sent.
enum OutboxContent: Sendable {
    case message(Message)
    /// A Security Event Token, and where it is posted to.
    case event(SecurityEventDelivery)
    /// Nothing any more, and why.
    case overtaken(String)
    /// Something that this node cannot read now, such as under a key that it does not have yet.
    case unreadable(String)
}

/// One attempt at one receiver.
package struct SecurityEventDelivery: Sendable {
    package let token: String
    package let url: String
    /// Whose receiver it is.
    package let provider: ProviderID
    /// The `Authorization` header that the receiver wants; `nil` for none.
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
