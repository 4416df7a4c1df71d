import Domain

/// A card as its holder sees it.
package struct EvaluatedCard: Sendable {
    package let id: IdentityCardID
    package let status: CardStatus
    /// The holder's level now.
    package let assurance: Assurance
    package let checks: [CardCheck]
    package let facts: CardFacts
    /// The holder's age on the day of the response.
    package let age: Int
}
