import Database
import Domain
import Encoding
import Foundation

/// Reads a card with all that a reviewer compares it with, in two statements however many cards and users there are.
package struct CardReviewRepository {
    private let transaction: any Transaction
    private let keys: PersonalKeys
}

package extension CardReviewRepository {
    init(_ transaction: any Transaction, keys: PersonalKeys) {
        self.transaction = transaction
        self.keys = keys
    }

    /// A card with its user, and the key that opens its sealed columns; no key if the user was erased.
    typealias Reviewed = (
        card: IdentityCardRepository.Entry, user: User, provider: Slug, dataKey: DataKey?, sealedName: [UInt8]?,
        sealedReason: [UInt8]?, decision: IdentityCardRepository.PendingDecision?
    )

    private static let reviewed = ColumnTuple(
        IdentityCardRepository.columns.of("c"), UserRow.columns.of("u"), Column<Slug>("p.slug"),
        Column<[UInt8]?>("u.\(SealedColumn.userDisplayName.name)"),
        Column<[UInt8]?>("c.\(SealedColumn.cardReason.name)"),
        Column<CardStatus?>("c.pending_status"), Column<Date?>("c.effective_at"),
        Column<[UInt8]?>("k.wrapped"), Column<Int?>("k.wrapping_version"))

    /// The card with an id; `nil` if there is none.
    ///
    /// - Throws: `SealingFailure` if the wrapping key is missing or the row was tampered with.
    func find(_ id: IdentityCardID) throws -> Reviewed? {
        let row = try transaction.first(
            """
            SELECT \(Self.reviewed) FROM identity_cards c
            JOIN users u ON u.id = c.user_id JOIN providers p ON p.id = u.provider_id
            LEFT JOIN data_keys k ON k.user_id = c.user_id
            WHERE c.id = $1
            """, [.id(id)])
        guard let row else { return nil }
        let (card, user, slug, name, reason, pending, effectiveAt, wrapped, version) = try Self.reviewed.read(row)
        var decision: IdentityCardRepository.PendingDecision?
        if let pending, let effectiveAt { decision = (pending, card.decidedBy ?? "", effectiveAt) }
        var key: DataKey?
        if let wrapped, let version {
            key = try DataKeyRepository(transaction, keys: keys).open(wrapped, version: version, of: card.userID)
        }
        return (card, user.user(at: transaction.now), slug, key, name, reason, decision)
    }

    private static let related = ColumnTuple(IdentityCardRepository.columns.of("c"), Column<String>("u.external_id"))
    /// The number of indexes of each kind in the statement: those of all kinds of card, under some versions of the key.
    private static let indexes = 16
    private static let mostRelated = 200

    private static let relatedCards: String = {
        let same = "provider_id = $2 AND user_id <> $1 AND status <> 'rejected'"
        func places(after count: Int) -> String {
            (1...indexes).map { "$\(count + $0)" }.joined(separator: ", ")
        }
        return """
            SELECT \(related) FROM identity_cards c JOIN users u ON u.id = c.user_id WHERE c.id IN (
                SELECT id FROM identity_cards WHERE user_id = $1
                UNION
                SELECT id FROM identity_cards WHERE document_index IN (\(places(after: 2))) AND \(same)
                UNION
                SELECT id FROM identity_cards WHERE person_index IN (\(places(after: 2 + indexes))) AND \(same)
            )
            ORDER BY c.submitted_at DESC, c.id LIMIT \(mostRelated)
            """
    }()

    /// The cards of a card's user, and the cards of other users of the provider with the same document or person,
    /// unless they were rejected; newest first, with the external ids of their users.
    func related(
        to card: IdentityCardRepository.Entry, documents: [Digest256], persons: [Digest256]
    ) throws -> [(card: IdentityCardRepository.Entry, externalID: String)] {
        func padded(_ digests: [Digest256]) -> [Value] {
            let values = digests.prefix(Self.indexes).map(\.value)
            // No index is empty, so such a value finds no card.
            return values + Array(repeating: values.last ?? .bytes([]), count: Self.indexes - values.count)
        }
        return try transaction.query(
            Self.relatedCards, [.id(card.userID), .id(card.providerID)] + padded(documents) + padded(persons)
        ).map { row in
            let (card, externalID) = try Self.related.read(row)
            return (card, externalID)
        }
    }
}
