import Domain

/// A card as its holder is told about it.
package struct EvaluatedCard: Sendable {
    package let id: IdentityCardID
    package let status: CardStatus
    /// How far its holder is verified now.
    package let assurance: Assurance
    package let checks: [CardCheck]
    package let facts: CardFacts
    /// The holder's age on the day of the answer.
    package let age: Int
}
