/// Why no sender can be made from the operator's configuration. The result of a message is a ``DeliveryOutcome``.
package enum DeliveryError: Error, Sendable, Equatable {
    /// A value in `Policies/delivery.yaml` is invalid: its name, and what is expected.
    case policy(String, expected: String)
    /// A key of an entry in `senders:` is invalid.
    case sender(kind: String, key: String, expected: String)
    /// A secret cannot be read from the configured place: the place, and what is expected. Never the secret.
    case secret(String, expected: String)
    /// The realm cannot be the host in the texts, and the policy names no other host.
    case realm(String)
    /// The text with the code cannot be sent in one part, with the reason.
    case text(String)
    /// The `file` sender is for development, on loopback only.
    case fileOffLoopback
}

extension DeliveryError: CustomStringConvertible {
    /// One sentence for the operator, without secrets.
    package var description: String {
        switch self {
        case .policy(let key, let expected): "delivery.yaml: \(key): \(expected) is expected."
        case .sender(let kind, let key, let expected):
            "delivery.yaml: senders: \(key) of \(kind): \(expected) is expected."
        case .secret(let place, let expected): "\(place): \(expected) is expected."
        case .realm(let realm):
            "The realm \(realm) is not a host name, with which texts with codes end. Give a host name as the realm, or "
                + "set text_host in delivery.yaml."
        case .text(let problem): "delivery.yaml: the text with the code \(problem)."
        case .fileOffLoopback:
            "The file sender requires that every listener is on loopback. Use other senders in delivery.yaml."
        }
    }
}
