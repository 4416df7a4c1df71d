import Domain
import Foundation

/// A verification as its device is told about it.
package struct StartedPhoneVerification: Sendable {
    package let id: PhoneVerificationID
    package let expiresAt: Date
    /// From when on the code may be sent again; `nil` where it may no more.
    package let resendAfter: Date?
    /// How many digits the code has.
    package let digits: Int
    /// What the guard before the texts decided, for the metrics alone; `nil` where no text was asked for.
    package let decision: SendDecision?
    /// The name of what is thinned out from now on, for the log.
    package let thinned: String?

    init(_ challenge: PhoneVerification, outcome: PhoneTexts.Outcome?, policy: PhonePolicy) {
        id = challenge.id
        expiresAt = challenge.expiresAt
        resendAfter = challenge.resendAfter(policy: policy)
        digits = policy.digits
        decision = outcome?.decision
        thinned = outcome?.thinned
    }
}
