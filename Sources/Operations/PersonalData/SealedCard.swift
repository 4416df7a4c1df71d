import Cards
import Database
import Domain
import Encoding
import Repositories

/// Opening what is kept of a card.
enum SealedCard {
    static func facts(
        of entry: IdentityCardRepository.Entry, keys: PersonalKeys, in transaction: any Transaction
    ) throws -> CardFacts? {
        guard let dataKey = try DataKeyRepository(transaction, keys: keys).find(entry.userID) else { return nil }
        return CardFacts(jsonText: try dataKey.open(entry.sealedFacts, in: .cardFacts, of: entry.id))
    }

    /// Whether a card is of the person by whose card a user was verified last; `nil` where the user never was. The number
    /// behind it may be another one since: who was verified is remembered by the card.
    static func isSamePerson(
        _ facts: CardFacts, of card: IdentityCardID, as user: UserID, keys: PersonalKeys,
        in transaction: any Transaction
    ) throws -> Bool? {
        guard let entry = try IdentityCardRepository(transaction).lastVerified(of: user, before: card) else {
            return nil
        }
        do {
            guard let former = try self.facts(of: entry, keys: keys, in: transaction) else { return false }
            return SamePerson.agree(former, facts)
        } catch is SealingFailure {
            // Who it was cannot be read any more: a person decides.
            return false
        }
    }
}
