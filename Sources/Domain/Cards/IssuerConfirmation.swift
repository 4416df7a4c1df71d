/// What a card's issuer, or a service that asks it, says of the data on a card.
package enum IssuerConfirmation: Sendable, Equatable {
    /// Every datum that was asked about matches.
    case confirmed
    /// The issuer knows the document otherwise, or not at all; the names of what does not match.
    case contradicted([String])
    case unanswered

    /// The check that says so.
    package var check: CardCheck {
        switch self {
        case .confirmed: CardCheck(.issuerConfirmation, .passed, "The issuer's data match.")
        case .contradicted(let names):
            CardCheck(
                .issuerConfirmation, .failed,
                "The issuer's data do not match: \(names.sorted().joined(separator: ", ")).")
        case .unanswered:
            CardCheck(
                .issuerConfirmation, .notApplicable,
                "The issuer could not be asked; show the card again later to reach the next level.")
        }
    }
}
