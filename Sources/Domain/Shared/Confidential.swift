/// A value that holds what is known of a person: however it is described, logged or dumped, only its type shows.
///
/// Unlike ``Secret``, its parts are read by name in many places; what must not happen is that a log line or an error
/// that merely mentions the value carries them along.
package protocol Confidential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Confidential {
    /// The type's name and nothing of the value.
    package var description: String { "\(Self.self)(••••)" }
    /// The type's name and nothing of the value.
    package var debugDescription: String { description }
    /// A mirror without children, so that `dump` and failed expectations show nothing.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
