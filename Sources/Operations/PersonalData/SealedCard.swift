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
        return try facts(of: entry, under: dataKey)
    }

    static func facts(of entry: IdentityCardRepository.Entry, under dataKey: DataKey) throws -> CardFacts? {
        CardFacts(jsonText: try dataKey.open(entry.sealedFacts, in: .cardFacts, of: entry.id))
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
        do {
            guard let former = try self.facts(of: entry, keys: keys, in: transaction) else { return false }
            return SamePerson.agree(former, facts)
        } catch is SealingFailure {
            // The former person is unreadable, so a reviewer decides.
            return false
        }
    }
}

extension PersonalKeys {
    /// The blind indexes of a document, under every version of the key.
    func indexes(of name: DocumentName) -> [Digest256] { name.fingerprints.flatMap { blindIndexes($0, .document) } }
}
