import Domain
import Foundation

/// The results of all checks of one card, and the verdict.
///
/// A barcode or a zone proves nothing about its issuer. A card that passes is only consistent in itself, so its level
/// is at most `Assurance/barcode`.
package struct CardAssessment: Sendable, Equatable {
    /// Every check, in the order of `CardCheck/Name`.
    package let checks: [CardCheck]
    package let verdict: Verdict
    /// The issuer's signature, verified by the keys that the policy pins.
    package let issuerSignature: IssuerSignature

    /// Evaluates a card.
    ///
    /// - Parameters:
    ///   - moment: the time of the evaluation. A card is valid until its last day has ended in every time zone.
    ///   - policy: the minimum age, and which soft failures send a card to review.
    ///   - displayName: the user's name at the provider; `nil` if the provider sent none.
    package init(_ card: ScannedCard, at moment: Date, policy: CardPolicy, displayName: String?) {
        issuerSignature = card.signature(verifiedBy: policy.barcodeKeys.compactMap { BarcodeKey($0) })
        let input = CardRule.Input(
            card: card, today: CalendarDate(utcDayOf: moment), earliestDay: CalendarDate(earliestDayAt: moment),
            policy: policy, displayName: displayName, signature: issuerSignature.state)
        checks = CardRule.all.map { $0.check(input) }
        verdict = Verdict(checks, policy: policy)
    }
}

package extension CardAssessment {
    /// The consequence of the checks.
    enum Verdict: String, Sendable {
        case accepted
        /// A reviewer must decide about it first.
        case inReview = "in_review"
        /// At least one hard check failed.
        case rejected

        /// Decides from all checks, including those of the issuer and of other cards. A hard failure rejects the card.
        /// A soft failure sends it to review if the policy requires that. Some always do.
        package init(_ checks: [CardCheck], policy: CardPolicy) {
            let failed = checks.filter { $0.result == .failed }.map(\.name)
            if failed.contains(where: \.isHard) {
                self = .rejected
            } else {
                let isReviewed = failed.contains {
                    CardCheck.Name.alwaysReviewed.contains($0) || policy.reviewedChecks.contains($0.rawValue)
                }
                self = isReviewed ? .inReview : .accepted
            }
        }
    }

    var failures: [CardCheck] { checks.filter { $0.result == .failed } }
}
