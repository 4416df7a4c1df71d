import Cards
import Database
import Domain
import Encoding
import Repositories

/// Opens the sealed data of a card.
enum SealedCard {
    static func facts(
        of entry: IdentityCardRepository.Entry, keys: PersonalKeys, in transaction: any Transaction
    ) throws -> CardFacts? {
        guard let dataKey = try DataKeyRepository(transaction, keys: keys).find(entry.userID) else { return nil }
        return CardFacts(jsonText: try dataKey.open(entry.sealedFacts, in: .cardFacts, of: entry.id))
    }

    /// Whether a card is of the same person as the card that last verified the user; `nil` if no card did. The phone
    /// number does not decide it, because it may have changed since.
    static func isSamePerson(
        _ facts: CardFacts, of card: IdentityCardID, as user: UserID, keys: PersonalKeys,
        in transaction: any Transaction
    ) throws -> Bool? {
        guard let entry = try IdentityCardRepository(transaction).lastVerified(of: user, before: card) else {
            return nil
        }
        // If the former person is unreadable, a reviewer decides.
        return try readableFacts(of: entry, keys: keys, in: transaction).map { SamePerson.agree($0, facts) } ?? false
    }

    /// The facts of a card; `nil` also for those that no longer open.
    static func readableFacts(
        of entry: IdentityCardRepository.Entry, keys: PersonalKeys, in transaction: any Transaction
    ) throws -> CardFacts? {
        do {
            return try facts(of: entry, keys: keys, in: transaction)
        } catch is SealingFailure {
            return nil
        }
    }
}

extension PersonalKeys {
    /// The blind indexes of a document, under every version of the key.
    func indexes(of name: DocumentName) -> [Digest256] { name.fingerprints.flatMap { blindIndexes($0, .document) } }
}
