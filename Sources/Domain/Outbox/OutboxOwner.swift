/// Whose message it is: the provider whose user it reaches, or who gets the event. What is shared is shared among
/// owners.
package struct OutboxOwner: Sendable, Hashable {
    /// As it is stored; empty for a message that a build without owners wrote.
    package let text: String

    package init(_ provider: ProviderID) {
        text = provider.description
    }

    /// From a stored row.
    package init(stored text: String) {
        self.text = text
    }
}

/// How the places of a kind are shared among owners.
package enum OutboxShare: Sendable, Equatable {
    /// Nobody sends it: it waits until it is fetched.
    case fetched
    /// An operator's carrier takes it. No owner makes that slower for another, so owners take turns, message by
    /// message.
    case turns
    /// A receiver that the owner names takes it. An owner has so many places at most, on all nodes together.
    case places(Int)
}

extension OutboxKind {
    /// How its places are shared.
    package var share: OutboxShare {
        switch self {
        case .polledEvent, .notification: .fetched
        case .phoneCode, .authorization, .message, .notificationPush: .turns
        case .providerEvent: .places(max(1, slots / 4))
        }
    }
}
