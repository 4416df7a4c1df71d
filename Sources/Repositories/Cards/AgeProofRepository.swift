import Database
import Domain
import Foundation

/// The ages that users' wallets proved, one sealed byte a user. The credential leaves no trace.
package struct AgeProofRepository {
    private let transaction: any Transaction
    private let keys: PersonalKeys
}

package extension AgeProofRepository {
    init(_ transaction: any Transaction, keys: PersonalKeys) {
        self.transaction = transaction
        self.keys = keys
    }

    private static let columns = ColumnTuple(
        Column<UserID>("user_id"), Column<[UInt8]>(.ageProof), Column<Date>("proven_at"))
    private static let content = ColumnTuple(Column<[UInt8]>(.ageProof), Column<Date>("proven_at"))

    /// The proof of a user; `nil` if there is none.
    ///
    /// - Throws: ``SealingFailure`` if the row was tampered with.
    func find(_ user: UserID) throws -> ProvenAges? {
        guard
            let row = try transaction.first(
                "SELECT \(Self.content) FROM age_proofs WHERE user_id = $1", [.id(user)]),
            let key = try DataKeyRepository(transaction, keys: keys).find(user)
        else { return nil }
        let (sealed, provenAt) = try Self.content.read(row)
        return AgeProof(text: try key.open(sealed, in: .ageProof, of: user)).map { ProvenAges($0, at: provenAt) }
    }

    /// Adds to the proof of a user. Ages that were proved before stay proved.
    func add(_ proof: AgeProof, of user: UserID, at time: Date) throws {
        let all = (try find(user)?.proof ?? []).union(proof)
        let key = try DataKeyRepository(transaction, keys: keys).findOrCreate(user)
        try transaction.execute(
            """
            INSERT INTO age_proofs (\(Self.columns)) VALUES (\(Self.columns.placeholders))
            ON CONFLICT (user_id) DO UPDATE SET sealed_ages = excluded.sealed_ages, proven_at = excluded.proven_at
            """, Self.columns.row(user, try key.seal(all.text, in: .ageProof, of: user), time))
    }

    /// Whether a user has a proof, without opening it.
    static func exists(_ user: UserID, in transaction: any Transaction) throws -> Bool {
        try transaction.first("SELECT 1 FROM age_proofs WHERE user_id = $1", [.id(user)]) != nil
    }

    func erase(_ user: UserID) throws {
        try transaction.execute("DELETE FROM age_proofs WHERE user_id = $1", [.id(user)])
    }
}
