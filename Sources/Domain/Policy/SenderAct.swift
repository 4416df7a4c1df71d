import Foundation

/// Acts with hourly limits for a sender's address and the networks around it. For each act there is an event that frees
/// its place in the limit. So people with a shared address do not use up the limit for each other.
package enum SenderAct: String, Sendable, CaseIterable {
    /// A new account requested a text to a number that is not its own.
    case text = "phone"
    /// A settled account or the number's owner requested a text. This budget is separate, so new accounts at the same
    /// address cannot use it up.
    case settledText = "phone settled"
    case certification = "certify"
}

package extension SenderAct {
    /// The event that shows that a person requested the act, and frees its place.
    enum Release: Sendable {
        /// The right code for the text.
        case rightCode
        /// The captcha or enrolment token that the authority accepted. If certification is open, the right code on the
        /// new device.
        case admission
    }

    var release: Release {
        switch self {
        case .text, .settledText: .rightCode
        case .certification: .admission
        }
    }

    /// The period of the limits.
    static let period: TimeInterval = 3600
}
