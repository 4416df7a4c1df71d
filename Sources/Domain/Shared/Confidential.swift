/// A value with personal data: however it is described, logged or dumped, only its type shows.
///
/// Unlike those of ``Secret``, its parts are read by name in many places. The protocol only prevents their disclosure
/// by a log line or an error that mentions the value.
package protocol Confidential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Confidential {
    /// The type's name and nothing of the value.
    package var description: String { "\(Self.self)(••••)" }
    /// The type's name and nothing of the value.
    package var debugDescription: String { description }
    /// A mirror without children, so that `dump` and failed expectations show nothing.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
