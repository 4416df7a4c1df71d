import Delivery

/// What a message of the outbox comes to when it is to be sent.
enum OutboxContent: Sendable {
    case message(Message)
    /// A Security Event Token, and the URL that it is posted to.
    case event(String, String)
    /// Nothing any more, and why.
    case overtaken(String)
    /// Something that this node cannot read now, such as under a key that it does not have yet.
    case unreadable(String)
}
