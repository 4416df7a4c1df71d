/// What a card counts for that a user has shown.
public enum CardStatus: String, Sendable, CaseIterable {
    /// It counts.
    case verified
    /// A person must decide.
    case inReview = "in_review"
    /// It does not count.
    case rejected
}
