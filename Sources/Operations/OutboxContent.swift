import Delivery

/// What a message of the outbox comes to when it is to be sent.
enum OutboxContent: Sendable {
    case message(Message)
    /// Nothing any more, and why.
    case overtaken(String)
    /// Something that this node cannot read now, such as under a key that it does not have yet.
    case unreadable(String)
}
