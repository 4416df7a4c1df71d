import Database
import Domain
import Encoding
import Foundation

/// Submitted cards with their decisions. A card's data is sealed under its user's key. The checks contain no data of
/// the card and are not encrypted.
package struct IdentityCardRepository {
    private let transaction: any Transaction
}

package extension IdentityCardRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// One submitted card with its decision.
    struct Entry: Sendable {
        package let id: IdentityCardID
        package let userID: UserID
        let providerID: ProviderID
        package var status: CardStatus
        /// The card's `CardFacts`, sealed under the user's key.
        package let sealedFacts: [UInt8]
        /// The device's input, sealed; `nil` after the decision or after a day.
        let sealedInput: [UInt8]?
        package let checks: String
        /// The level that the card gives after its acceptance.
        package let assurance: Assurance
        package let documentIndex: Digest256?
        package let personIndex: Digest256?
        package let submittedAt: Date
        /// When it was decided; `nil` in review.
        package var decidedAt: Date?
        /// The reviewer; `nil` if the checks decided.
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

    /// The sealed reason is read separately.
    internal static let columns = Table<Entry>(
        "identity_cards", Entry.init,
        Field("id", \.id),
        Field("user_id", \.userID),
        Field("provider_id", \.providerID),
        Field("status", \.status),
        Field(.cardFacts, \.sealedFacts),
        Field(.cardInput, \.sealedInput),
        Field("checks", \.checks),
        Field("assurance", \.assurance),
        Field("document_index", \.documentIndex),
        Field("person_index", \.personIndex),
        Field("submitted_at", \.submittedAt),
        Field("decided_at", \.decidedAt),
        Field("decided_by", \.decidedBy))

    func insert(_ entry: Entry) throws {
        try transaction.execute(Self.columns.insertion, Self.columns.row(entry))
    }

    /// The card with an id; `nil` if there is none.
    func find(_ id: IdentityCardID) throws -> Entry? {
        try transaction.first(Self.columns, "WHERE id = $1", [.id(id)])
    }

    /// A user's cards, newest first.
    func list(of user: UserID) throws -> [Entry] {
        try transaction.query(Self.columns, "WHERE user_id = $1 ORDER BY submitted_at DESC, id", [.id(user)])
    }

    /// The user's last accepted card except the given one; `nil` if there is none.
    func lastVerified(of user: UserID, before card: IdentityCardID) throws -> Entry? {
        try transaction.first(
            Self.columns,
            """
            WHERE user_id = $1 AND status = 'verified' AND id <> $2
            ORDER BY decided_at DESC, id LIMIT 1
            """, [.id(user), .id(card)])
    }

    /// The cards in review without a decision, oldest first.
    ///
    /// - Parameter cursor: the last card of the previous page, decided meanwhile or not; `nil` for the first page.
    /// - Throws: `Refusal` `not_found` if the cursor's row was deleted.
    func listInReview(limit: Int, after cursor: IdentityCardID? = nil) throws -> [Entry] {
        var place: [Value] = [.integer(.min), .text("")]
        if let cursor {
            let at: Int64? = try transaction.value(
                "SELECT submitted_at FROM identity_cards WHERE id = $1", [.id(cursor)])
            guard let at else {
                throw Refusal.cursorGone("\(cursor)")
            }
            place = [.integer(at), .id(cursor)]
        }
        return try transaction.query(
            Self.columns,
            """
            WHERE status = 'in_review' AND pending_status IS NULL AND (submitted_at, id) > ($2, $3)
            ORDER BY submitted_at, id LIMIT $1
            """,
            [limit.value] + place)
    }

    /// Other users of a provider who submitted the same document, or a card of the same person, unless it was rejected.
    func others(
        than user: UserID, of provider: ProviderID, documents: [Digest256], persons: [Digest256]
    ) throws -> (sameDocument: [UserID], samePerson: [UserID]) {
        func find(_ column: String, _ indexes: [Digest256]) throws -> [UserID] {
            let found = try Set(indexes).flatMap { index -> [UserID] in
                try transaction.values(
                    """
                    SELECT DISTINCT user_id FROM identity_cards
                    WHERE provider_id = $1 AND \(column) = $2 AND user_id <> $3 AND status <> 'rejected'
                    """, [.id(provider), index.value, .id(user)])
            }
            return Set(found).sorted { $0.description < $1.description }
        }
        return (try find("document_index", documents), try find("person_index", persons))
    }

    /// The users of all providers who were verified by a document with one of these blind indexes.
    func holders(ofDocument indexes: [Digest256]) throws -> [UserID] {
        try indexes.flatMap { index in
            try transaction.values(
                "SELECT DISTINCT user_id FROM identity_cards WHERE document_index = $1 AND status = 'verified'",
                [index.value])
        }
    }

    /// Decides a card in review and deletes the device's input; `false` if the card is not in review, or a decision
    /// about it has not taken effect yet.
    func decide(
        _ id: IdentityCardID, _ status: CardStatus, by actor: String, sealedReason: [UInt8], at time: Date
    ) throws -> Bool {
        try transaction.execute(
            """
            UPDATE identity_cards
            SET status = $2, decided_at = $3, decided_by = $4, sealed_reason = $5, sealed_input = NULL
            WHERE id = $1 AND status = 'in_review' AND pending_status IS NULL
            """, [.id(id), status.value, .time(time), .text(actor), .bytes(sealedReason)]) > 0
    }

    /// A decision that has not taken effect yet.
    typealias PendingDecision = (status: CardStatus, actor: String, effectiveAt: Date)

    private static let pending = ColumnTuple(
        Column<CardStatus>("pending_status"), Column<String>("decided_by"), Column<Date>("effective_at"))

    /// The decision about a card that has not taken effect yet; `nil` if there is none.
    func pendingDecision(_ id: IdentityCardID) throws -> PendingDecision? {
        try transaction.first(
            "SELECT \(Self.pending) FROM identity_cards WHERE id = $1 AND pending_status IS NOT NULL", [.id(id)]
        ).map { row in
            let (status, actor, effectiveAt) = try Self.pending.read(row)
            return (status, actor, effectiveAt)
        }
    }

    /// Stores a decision about a card in review that takes effect at a time; `false` if the card is not in review or has
    /// a decision.
    func decide(
        _ id: IdentityCardID, _ status: CardStatus, by actor: String, sealedReason: [UInt8], effectiveAt time: Date
    ) throws -> Bool {
        try transaction.execute(
            """
            UPDATE identity_cards
            SET pending_status = $2, effective_at = $3, decided_by = $4, sealed_reason = $5
            WHERE id = $1 AND status = 'in_review' AND pending_status IS NULL
            """, [.id(id), status.value, .time(time), .text(actor), .bytes(sealedReason)]) > 0
    }

    /// Removes a decision that has not taken effect; `false` if there is none.
    func removeDecision(_ id: IdentityCardID) throws -> Bool {
        try transaction.execute(
            """
            UPDATE identity_cards
            SET pending_status = NULL, effective_at = NULL, decided_by = NULL, sealed_reason = NULL
            WHERE id = $1 AND pending_status IS NOT NULL
            """, [.id(id)]) > 0
    }

    /// The cards whose decisions take effect now, in the order of the decisions.
    func listDue(limit: Int) throws -> [IdentityCardID] {
        try transaction.values(
            "SELECT id FROM identity_cards WHERE effective_at <= $1 ORDER BY effective_at, id LIMIT $2",
            [.time(transaction.now), limit.value])
    }

    /// Puts a card's decision into force and deletes the device's input; `false` if it has no decision.
    func applyDecision(_ id: IdentityCardID) throws -> Bool {
        try transaction.execute(
            """
            UPDATE identity_cards
            SET status = pending_status, decided_at = $2, sealed_input = NULL, pending_status = NULL,
                effective_at = NULL
            WHERE id = $1 AND pending_status IS NOT NULL
            """, [.id(id), .time(transaction.now)]) > 0
    }

    /// Replaces a card's sealed facts.
    func replaceFacts(_ id: IdentityCardID, sealed: [UInt8]) throws {
        try transaction.execute("UPDATE identity_cards SET sealed_facts = $2 WHERE id = $1", [.id(id), .bytes(sealed)])
    }

    /// The reason of the decision, sealed.
    func sealedReason(_ id: IdentityCardID) throws -> [UInt8]? {
        try transaction.value("SELECT sealed_reason FROM identity_cards WHERE id = $1", [.id(id)], as: [UInt8]?.self)
            ?? nil
    }

    private static let oldInput = AgedRows(
        "UPDATE identity_cards SET sealed_input = NULL", of: "identity_cards", key: "id", age: "submitted_at",
        and: "sealed_input IS NOT NULL")

    /// Deletes the devices' inputs from before a time.
    @discardableResult
    func dropInput(
        before moment: Date, _ batch: MaintenanceBatch = MaintenanceBatch()
    ) throws -> MaintenanceBatch.Outcome {
        try Self.oldInput.take(before: moment, batch, in: transaction)
    }

    func erase(_ user: UserID) throws {
        try transaction.execute("DELETE FROM identity_cards WHERE user_id = $1", [.id(user)])
    }
}
