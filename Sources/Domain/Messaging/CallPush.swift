import Foundation

/// A push about a call: one makes a device ring, and one of the others ends the ringing.
package enum CallPush: String, Sendable, CaseIterable {
    case ring
    /// Another device of the user picked up.
    case answered
    /// Another device of the user refused the call.
    case declined
    /// The caller ended the call before anyone picked up.
    case givenUp = "given_up"
    /// Nobody picked up in time.
    case missed
}

package extension CallPush {
    var type: PushType { self == .ring ? .call : .callEnd }

    var purpose: PushEndpoints.Purpose { self == .ring ? .call : .endOfCall }

    /// How long the end of a call is tried, in seconds. A later one would only surprise the user.
    static let endLifetime: TimeInterval = 120

    /// The words on the screen. Only an incoming call names a person.
    ///
    /// - Parameter caller: the caller's name or initials; `nil` if they are unknown.
    func words(caller: String?) -> (title: String, body: String) {
        switch self {
        case .ring: ("Incoming call", "\(caller ?? "Somebody") is calling you.")
        case .answered: ("Call answered", "You answered on another device.")
        case .declined: ("Call declined", "You declined on another device.")
        case .givenUp, .missed: ("Missed call", "You missed a call.")
        }
    }
}
