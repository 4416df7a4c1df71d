import Domain
import Foundation

/// A verification as its device sees it.
package struct StartedPhoneVerification: Sendable {
    package let id: PhoneVerificationID
    package let expiresAt: Date
    /// When the code may next be sent again; `nil` if it may not.
    package let resendAfter: Date?
    /// The number of digits of the code.
    package let digits: Int
    /// The guard's decision, for the metrics alone; `nil` if no text was requested.
    package let decision: SendDecision?
    /// The name of the scope that the breaker limits from now on, for the log; `nil` if there is none.
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
