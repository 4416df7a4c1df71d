/// The status of a card that a user has shown.
package enum CardStatus: String, Sendable, CaseIterable {
    case verified
    case inReview = "in_review"
    case rejected
}
