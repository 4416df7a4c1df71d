import Domain
import Synchronization

/// The policy in force; replaced as a whole when the operator reloads it.
package final class CurrentPolicy: Sendable {
    private let policy: Mutex<Policy>

    package init(_ policy: Policy) {
        self.policy = Mutex(policy)
    }

    /// Puts another policy into force; later reads return its parts.
    package func replace(with policy: Policy) {
        self.policy.withLock { $0 = policy }
    }

    /// One part of it, so that a request copies no more than it needs.
    package subscript<Part: Sendable>(_ part: KeyPath<Policy, Part>) -> Part {
        policy.withLock { $0[keyPath: part] }
    }
}
