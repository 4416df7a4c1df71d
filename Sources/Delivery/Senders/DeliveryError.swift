/// Why no sender can be made of what the operator configured. What becomes of a message is a ``DeliveryOutcome``.
package enum DeliveryError: Error, Sendable, Equatable {
    /// A value of `Policies/delivery.yaml` cannot be used: its name there, and what is expected.
    case policy(String, expected: String)
    /// A key of an entry in `senders:` cannot be used.
    case sender(kind: String, key: String, expected: String)
    /// A secret cannot be read from where the policy says that it is: the place, and what is expected. Never the secret.
    case secret(String, expected: String)
    /// The text with the code cannot be sent in one part: what is in the way.
    case text(String)
    /// The `file` sender is for development, on loopback only.
    case fileOffLoopback
}

extension DeliveryError: CustomStringConvertible {
    /// One sentence for the operator; no secret in it.
    package var description: String {
        switch self {
        case .policy(let key, let expected): "delivery.yaml: \(key): \(expected) is expected."
        case .sender(let kind, let key, let expected):
            "delivery.yaml: senders: \(key) of \(kind): \(expected) is expected."
        case .secret(let place, let expected): "\(place): \(expected) is expected."
        case .text(let problem): "delivery.yaml: the text with the code \(problem)."
        case .fileOffLoopback:
            "The file sender writes codes to a file and is refused off loopback: name other senders in delivery.yaml."
        }
    }
}
