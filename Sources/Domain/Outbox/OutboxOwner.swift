/// The provider that a message belongs to: that of the recipient, or the recipient itself. Shared capacity is divided
/// among owners.
package struct OutboxOwner: Sendable, Hashable {
    /// The stored form; empty for a message from a build without owners.
    package let text: String
}

package extension OutboxOwner {
    init(_ provider: ProviderID) {
        text = provider.description
    }

    /// - Parameter text: from a stored row.
    init(stored text: String) {
        self.text = text
    }
}

package extension OutboxKind {
    /// How the slots of a kind are divided among owners.
    enum Share: Sendable, Equatable {
        /// The message is not sent: it waits until it is fetched.
        case fetched
        /// An operator's carrier delivers the messages. Owners take turns, message by message, because no owner can make
        /// the carrier slower for others.
        case turns
        /// A receiver that the owner chose accepts the messages. Each owner has at most this number of slots, on all nodes
        /// together.
        case places(Int)
    }

    /// How the slots of this kind are divided among owners.
    var share: Share {
        switch self {
        case .polledEvent, .notification: .fetched
        case .phoneCode, .authorization, .message, .call, .notificationPush: .turns
        case .providerEvent: .places(max(1, slots / 4))
        }
    }
}
