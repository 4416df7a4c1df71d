import Domain
import Foundation

/// What all checks say of one card, and what follows.
///
/// A barcode or a zone proves nothing about its issuer: a card that passes is one that does not contradict itself, and no
/// more is said of it than `Assurance/barcode`.
package struct CardAssessment: Sendable, Equatable {
    /// Every check, in the order of `CardCheck/Name`.
    package let checks: [CardCheck]
    package let verdict: Verdict

    /// What follows from the checks.
    package enum Verdict: String, Sendable {
        case accepted
        /// A person must look at it first.
        case inReview = "in_review"
        /// A hard check failed.
        case rejected

        /// Decides from checks, those of the issuer and of other cards among them. A hard failure rejects the card; a soft
        /// one sends it to review if the policy says so, another person's card by any policy.
        package init(_ checks: [CardCheck], policy: CardPolicy) {
            let failed = checks.filter { $0.result == .failed }.map(\.name)
            if failed.contains(where: \.isHard) {
                self = .rejected
            } else {
                let isReviewed = failed.contains { $0 == .samePerson || policy.reviewedChecks.contains($0.rawValue) }
                self = isReviewed ? .inReview : .accepted
            }
        }
    }

    /// Evaluates a card.
    ///
    /// - Parameters:
    ///   - moment: of the evaluation. A card is valid until its last day is over wherever its holder may be.
    ///   - policy: the minimum age, and which soft failures send a card to review.
    ///   - displayName: the name under which the provider knows the user; `nil` if it told none.
    package init(_ card: ScannedCard, at moment: Date, policy: CardPolicy, displayName: String?) {
        let input = CardRule.Input(
            card: card, today: CalendarDate(utcDayOf: moment), earliestDay: CalendarDate(earliestDayAt: moment),
            policy: policy, displayName: displayName)
        checks = CardRule.all.map { $0.check(input) }
        verdict = Verdict(checks, policy: policy)
    }

    package var failures: [CardCheck] { checks.filter { $0.result == .failed } }
}
