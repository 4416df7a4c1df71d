/// A confidential value: descriptions, logs and mirrors show `••••` instead.
package struct Secret<Value: Sendable>: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private let value: Value
}

package extension Secret {
    init(_ value: Value) {
        self.value = value
    }

    /// The value itself. Each call is a deliberate disclosure.
    func reveal() -> Value {
        value
    }

    /// Shows `••••`, whatever the value.
    var description: String { "••••" }
    /// Shows `••••`, whatever the value.
    var debugDescription: String { "••••" }
    /// A mirror without children, so that `dump` shows nothing.
    var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Compares two byte strings in a time that depends on their lengths only.
package func constantTimeEqual(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for (a, b) in zip(left, right) { difference |= a ^ b }
    return difference == 0
}
