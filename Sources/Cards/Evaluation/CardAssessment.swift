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
        /// The card does not count: a hard check failed.
        case rejected
    }

    /// Judges a card.
    ///
    /// - Parameters:
    ///   - moment: of the judgement. A card counts until its last day is over wherever its holder may be.
    ///   - policy: the minimum age, and which soft failures send a card to review.
    ///   - displayName: the name under which the provider knows the user; `nil` where it told none.
    package init(_ card: ScannedCard, at moment: Date, policy: CardPolicy, displayName: String?) {
        let judged = CardRule.Case(
            card: card, today: CalendarDate(utcDayOf: moment), earliestDay: CalendarDate(earliestDayAt: moment),
            policy: policy, displayName: displayName)
        checks = CardRule.all.map { $0.check(judged) }
        let failed = checks.filter { $0.result == .failed }.map(\.name)
        if failed.contains(where: \.isHard) {
            verdict = .rejected
        } else {
            verdict = failed.contains { policy.reviewedChecks.contains($0.rawValue) } ? .inReview : .accepted
        }
    }

    package var failures: [CardCheck] { checks.filter { $0.result == .failed } }
}
