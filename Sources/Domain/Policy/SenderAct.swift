import Foundation

/// The acts that a sender may do so often in an hour from one address and from the networks around it. Each says what
/// gives its place back, so that people behind a shared address do not use it up for each other.
package enum SenderAct: String, Sendable, CaseIterable {
    /// A text that a new account requested to a number that is not its own.
    case text = "phone"
    /// A text that a settled account or the number's owner requested. Settled accounts have their own budget, so new
    /// accounts behind their address cannot use it up.
    case settledText = "phone settled"
    case certification = "certify"

    /// What shows that a person was behind the act, and gives its place back.
    package enum Release: Sendable {
        /// The right code for the text.
        case rightCode
        /// The captcha or enrolment token before the authority. If the gate is open, the right code on the new device.
        case admission
    }

    package var release: Release {
        switch self {
        case .text, .settledText: .rightCode
        case .certification: .admission
        }
    }

    /// The period of the limits.
    package static let period: TimeInterval = 3600
}
