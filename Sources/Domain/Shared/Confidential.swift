/// A value with personal data. Descriptions, logs and dumps show only its type.
///
/// Unlike those of ``Secret``, its parts are read by name in many places. The protocol only prevents their disclosure
/// by a log line or an error that mentions the value.
package protocol Confidential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

package extension Confidential {
    /// The type's name without the value.
    var description: String { "\(Self.self)(••••)" }
    /// The type's name without the value.
    var debugDescription: String { description }
    /// A mirror without children, so that `dump` and failed expectations show nothing.
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
