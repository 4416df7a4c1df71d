/// Refusals of commands about messages in the outbox.
package extension Refusal {
    static func unknownOutboxMessage(_ id: OutboxMessageID) -> Refusal {
        Refusal(.notFound, "There is no message \(id) in the outbox. Check the id.")
    }

    static func notDroppable(_ state: OutboxMessage.State) -> Refusal {
        Refusal(
            .conflict, "The message is \(state.rawValue). Only waiting and dead messages can be dropped.",
            state: state.rawValue)
    }

    static func notRetriable(_ state: OutboxMessage.State) -> Refusal {
        Refusal(
            .conflict, "The message is \(state.rawValue). Only dead messages can be sent again.",
            state: state.rawValue)
    }

    static let outboxMessageExpired = Refusal(
        .conflict, "The message has expired. Drop it.", state: OutboxMessage.State.expired.rawValue)
}
