import Database
import Domain
import Repositories

/// A user reads one of their own cards.
package struct ReadCard: Sendable {
    private let context: Service

    package init(_ context: Service) {
        self.context = context
    }

    /// The data of an own card that a user may see later.
    ///
    /// - Throws: `Refusal` `not_found`.
    package func callAsFunction(_ text: String, to session: Session) async throws -> EvaluatedCard {
        let today = CalendarDate(utcDayOf: context.environment.now())
        let keys = context.keys.personal
        return try await context.read { transaction in
            guard let id = IdentityCardID(text[...]), let entry = try IdentityCardRepository(transaction).find(id),
                entry.userID == session.userID,
                let facts = try SealedCard.facts(of: entry, keys: keys, in: transaction)
            else { throw Refusal.unknownOwnCard }
            return EvaluatedCard(
                id: id, status: entry.status,
                assurance: try UserRepository(transaction).find(session.userID)?.assurance ?? .none,
                checks: CardCheck.list(jsonText: entry.checks), facts: facts, age: facts.dateOfBirth.age(on: today))
        }
    }
}
