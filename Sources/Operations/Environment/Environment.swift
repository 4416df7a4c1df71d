import Domain
import Encoding
import Foundation
import Synchronization

/// The service's sources of cells, time and random bytes. It makes every identifier.
package struct Environment: Sendable {
    let cell: Cell
    package let now: @Sendable () -> Date
    /// Returns a number of bytes from a cryptographic generator.
    package let randomBytes: @Sendable (Int) -> [UInt8]

    /// The defaults are the system's clock and generator.
    package init(
        cell: Cell,
        now: @escaping @Sendable () -> Date = { Date() },
        randomBytes: @escaping @Sendable (Int) -> [UInt8] = Environment.systemBytes
    ) {
        self.cell = cell
        self.now = now
        self.randomBytes = randomBytes
    }
}

package extension Environment {
    /// Bytes of the kernel's generator. One call returns up to 256, while the standard library's generator returns
    /// eight.
    static func systemBytes(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let isFilled = bytes.withUnsafeMutableBytes { $0.count <= 256 && getentropy($0.baseAddress, $0.count) == 0 }
        if isFilled { return bytes }
        var generator = SystemRandomNumberGenerator()
        for index in bytes.indices { bytes[index] = .random(in: .min ... .max, using: &generator) }
        return bytes
    }

    func newIdentifier<Kind>() -> Identifier<Kind> {
        Identifier(newUUID())
    }

    /// A new random UUID of this cell.
    func newUUID() -> UUID {
        cell.randomID(randomBytes(Cell.randomLength))
    }
}

/// Whether the policy's rate limits are enforced. Rules such as the number of checks of one code are not rate limits
/// and always apply.
package enum RateLimiting: String, Sendable {
    case on
    case off
}

/// The policy in force; replaced as a whole when the operator reloads it.
package final class CurrentPolicy: Sendable {
    private let policy: Mutex<Policy>

    package init(_ policy: Policy) {
        self.policy = Mutex(policy)
    }
}

package extension CurrentPolicy {
    /// Puts another policy into force; later reads return its parts.
    func replace(with policy: Policy) {
        self.policy.withLock { $0 = policy }
    }

    /// One part of the policy, so that a request copies no more than it needs.
    subscript<Part: Sendable>(_ part: KeyPath<Policy, Part>) -> Part {
        policy.withLock { $0[keyPath: part] }
    }
}
