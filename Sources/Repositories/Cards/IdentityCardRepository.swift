import Database
import Domain
import Encoding
import Foundation

/// Cards that users showed, as they were judged. What the card says is sealed under its user's key; the checks hold no
/// datum of it and stand in clear.
package struct IdentityCardRepository {
    private let transaction: any Transaction

    /// The table, as it is bound into what is sealed in it.
    package static let table = "identity_cards"

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// One card as it was shown and judged.
    package struct Entry: Sendable {
        package let id: IdentityCardID
        package let userID: UserID
        /// The provider that vouches for the user.
        package let providerID: ProviderID
        package var status: CardStatus
        /// `CardFacts`, sealed.
        package let sealedFacts: [UInt8]
        /// What the device sent, sealed; `nil` once it was decided or a day is over.
        package let sealedInput: [UInt8]?
        package let checks: String
        /// The level that the card gives once it counts.
        package let assurance: Assurance
        package let documentIndex: Digest256?
        package let personIndex: Digest256?
        package let submittedAt: Date
        /// When that was decided; `nil` in review.
        package var decidedAt: Date?
        /// Who decided, where a person did.
        package var decidedBy: String?

        package init(
            id: IdentityCardID, userID: UserID, providerID: ProviderID, status: CardStatus, sealedFacts: [UInt8],
            sealedInput: [UInt8]?, checks: String, assurance: Assurance, documentIndex: Digest256?,
            personIndex: Digest256?,
            submittedAt: Date, decidedAt: Date? = nil, decidedBy: String? = nil
        ) {
            self.id = id
            self.userID = userID
            self.providerID = providerID
            self.status = status
            self.sealedFacts = sealedFacts
            self.sealedInput = sealedInput
            self.checks = checks
            self.assurance = assurance
            self.documentIndex = documentIndex
            self.personIndex = personIndex
            self.submittedAt = submittedAt
            self.decidedAt = decidedAt
            self.decidedBy = decidedBy
        }
    }

    private static let columns = """
        id, user_id, provider_id, status, sealed_facts, sealed_input, checks, assurance, document_index, person_index,
        submitted_at, decided_at, decided_by
        """

    package func insert(_ entry: Entry) throws {
        try transaction.execute(
            """
            INSERT INTO identity_cards (\(Self.columns))
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
            """,
            [
                .id(entry.id), .id(entry.userID), .id(entry.providerID), .text(entry.status.rawValue),
                .bytes(entry.sealedFacts), Value(entry.sealedInput), .text(entry.checks),
                .text(entry.assurance.rawValue),
                Value(entry.documentIndex?.bytes), Value(entry.personIndex?.bytes), .time(entry.submittedAt),
                .time(entry.decidedAt), .optional(entry.decidedBy),
            ])
    }

    /// The card with an id.
    package func find(_ id: IdentityCardID) throws -> Entry? {
        try transaction.first("SELECT \(Self.columns) FROM identity_cards WHERE id = $1", [.id(id)]).map(Self.entry)
    }

    /// A user's cards, newest first.
    package func list(of user: UserID) throws -> [Entry] {
        try transaction.query(
            "SELECT \(Self.columns) FROM identity_cards WHERE user_id = $1 ORDER BY submitted_at DESC, id", [.id(user)]
        ).map(Self.entry)
    }

    /// The card by which a user was verified last, but for one; `nil` where none ever was.
    package func lastVerified(of user: UserID, before card: IdentityCardID) throws -> Entry? {
        try transaction.first(
            """
            SELECT \(Self.columns) FROM identity_cards WHERE user_id = $1 AND status = 'verified' AND id <> $2
            ORDER BY decided_at DESC, id LIMIT 1
            """, [.id(user), .id(card)]
        ).map(Self.entry)
    }

    /// The cards that wait for a decision, oldest first.
    package func listInReview(limit: Int) throws -> [Entry] {
        try transaction.query(
            """
            SELECT \(Self.columns) FROM identity_cards WHERE status = 'in_review' ORDER BY submitted_at, id LIMIT $1
            """, [.integer(Int64(limit))]
        ).map(Self.entry)
    }

    /// Other users of a provider who showed the same document, or a card of the same person, and were not rejected.
    package func others(
        than user: UserID, of provider: ProviderID, documents: [Digest256], persons: [Digest256]
    ) throws -> (sameDocument: [UserID], samePerson: [UserID]) {
        func find(_ column: String, _ indexes: [Digest256]) throws -> [UserID] {
            let found = try Set(indexes).flatMap { index -> [UserID] in
                try transaction.query(
                    """
                    SELECT DISTINCT user_id FROM identity_cards
                    WHERE provider_id = $1 AND \(column) = $2 AND user_id <> $3 AND status <> 'rejected'
                    """, [.id(provider), .bytes(index.bytes), .id(user)]
                ).map { try $0.id(0) }
            }
            return Set(found).sorted { $0.description < $1.description }
        }
        return (try find("document_index", documents), try find("person_index", persons))
    }

    /// The users of all providers whom a document verified that has one of these blind indexes.
    package func holders(ofDocument indexes: [Digest256]) throws -> [UserID] {
        try indexes.flatMap { index in
            try transaction.query(
                "SELECT DISTINCT user_id FROM identity_cards WHERE document_index = $1 AND status = 'verified'",
                [.bytes(index.bytes)]
            ).map { try $0.id(0) }
        }
    }

    /// Decides a card that is in review; `false` where it is not, or no longer. What the device sent goes with it.
    package func decide(
        _ id: IdentityCardID, _ status: CardStatus, by actor: String, sealedReason: [UInt8], at time: Date
    ) throws -> Bool {
        try transaction.execute(
            """
            UPDATE identity_cards
            SET status = $2, decided_at = $3, decided_by = $4, sealed_reason = $5, sealed_input = NULL
            WHERE id = $1 AND status = 'in_review'
            """, [.id(id), .text(status.rawValue), .time(time), .text(actor), .bytes(sealedReason)]) > 0
    }

    /// Puts other facts in the place of a card's, sealed.
    package func replaceFacts(_ id: IdentityCardID, sealed: [UInt8]) throws {
        try transaction.execute("UPDATE identity_cards SET sealed_facts = $2 WHERE id = $1", [.id(id), .bytes(sealed)])
    }

    /// Why it was decided so, sealed.
    package func sealedReason(_ id: IdentityCardID) throws -> [UInt8]? {
        try transaction.first("SELECT sealed_reason FROM identity_cards WHERE id = $1", [.id(id)])?.bytesOrNull(0)
    }

    /// Forgets what devices sent before a moment.
    package func dropInput(before moment: Date) throws {
        try transaction.execute(
            "UPDATE identity_cards SET sealed_input = NULL WHERE sealed_input IS NOT NULL AND submitted_at < $1",
            [.time(moment)])
    }

    package func erase(_ user: UserID) throws {
        try transaction.execute("DELETE FROM identity_cards WHERE user_id = $1", [.id(user)])
    }

    private static func entry(_ row: Row) throws -> Entry {
        func digest(_ index: Int) throws -> Digest256? {
            try row.bytesOrNull(index).map { bytes in
                guard let digest = Digest256(bytes) else { throw DamagedRow(column: index) }
                return digest
            }
        }
        return Entry(
            id: try row.id(0), userID: try row.id(1), providerID: try row.id(2), status: try row.word(3),
            sealedFacts: try row.bytes(4), sealedInput: try row.bytesOrNull(5), checks: try row.text(6),
            assurance: try row.word(7), documentIndex: try digest(8), personIndex: try digest(9),
            submittedAt: try row.time(10), decidedAt: try row.timeOrNull(11), decidedBy: try row.textOrNull(12))
    }
}
