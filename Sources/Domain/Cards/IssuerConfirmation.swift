/// The answer of a card's issuer, or of a service that queries it.
package enum IssuerConfirmation: Sendable, Equatable {
    /// Every queried datum matches the issuer's data.
    case confirmed
    /// The issuer has other data, or does not know the document. The names are those of the data that do not match.
    case contradicted([String])
    case unanswered

    /// The card check that reports the answer.
    package var check: CardCheck {
        switch self {
        case .confirmed: CardCheck(.issuerConfirmation, .passed, "The issuer's data match.")
        case .contradicted(let names):
            CardCheck(.issuerConfirmation, .failed, "The issuer's data do not match: \(Self.list(names)).")
        case .unanswered:
            CardCheck(
                .issuerConfirmation, .notApplicable,
                "The issuer could not be reached. Show the card again later to reach the next level.")
        }
    }

    private static func list(_ names: [String]) -> String { names.sorted().joined(separator: ", ") }
}
