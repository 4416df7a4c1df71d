import Database
import Domain
import Encoding
import Foundation

/// The recorded attempts to sign in, with ids and codes. Nodes write them after the sign-ins, in batches.
package struct SignInRecordRepository {
    private let transaction: any Transaction

    private static let columns = Table<SignInAttempt>(
        "sign_ins", SignInAttempt.init,
        Field("id", \.id),
        Field("at", \.at),
        Field("act", \.act),
        Field("provider_id", \.providerID),
        Field("user_id", \.userID),
        Field("session_id", \.sessionID),
        Field("provider_key_id", \.providerKeyID),
        Field("application_id", \.applicationID),
        Field("device_id", \.deviceID),
        Field("code", \.code),
        Field("reason", \.reason))

    /// The user is found by the provider's own name. A user who was erased after the attempt is not.
    private static let insertion =
        columns.insertion.replacing(
            ", $5,",
            with: """
                , COALESCE($5, (
                    SELECT u.id FROM users u WHERE u.provider_id = $4 AND u.external_id = $12
                        AND (u.erased_at IS NULL OR u.erased_at < $2)
                )),
                """) + " ON CONFLICT (at, id) DO NOTHING"
}

extension SignInAttempt.Act: ColumnContent {}

package extension SignInRecordRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// Enqueues the insertion of an attempt, unless it is stored already.
    ///
    /// - Parameter externalID: the user's name at the provider, by which the user is found. It is not stored.
    func enqueueInsert(_ attempt: SignInAttempt, of externalID: String?) throws {
        try transaction.enqueue(Self.insertion, Self.columns.row(attempt, externalID.value))
    }

    /// The attempts that named a user, newest first.
    ///
    /// - Parameter place: the place after which the page starts.
    func list(of user: UserID, after place: HistoryPlace, limit: Int) throws -> [SignInAttempt] {
        try transaction.query(
            Self.columns,
            """
            WHERE user_id = $1 AND (at, id) < ($2, $3) AND NOT \(ErasureRepository.isUnderWay("sign_ins.user_id"))
            ORDER BY at DESC, id DESC LIMIT \(limit)
            """, [.id(user)] + place.values)
    }

    /// Whom a key signed in, and the sessions, oldest first.
    ///
    /// - Parameter last: the last attempt of the previous page; `nil` for the first page.
    func accepted(by key: ProviderKeyID, after last: SignInAttempt?, limit: Int) throws -> [SignInAttempt] {
        try transaction.query(
            Self.columns,
            """
            WHERE provider_key_id = $1 AND (at, id) > ($2, $3) AND session_id IS NOT NULL
            ORDER BY at, id LIMIT \(limit)
            """, [.id(key), .integer(last?.at.milliseconds ?? .min), .text(last?.id.description ?? "")])
    }

    /// Deletes some attempts of an erased user; returns their number.
    func erase(_ user: UserID, limit: Int) throws -> Int {
        try transaction.execute(
            """
            DELETE FROM sign_ins WHERE (at, id) IN (
                SELECT at, id FROM sign_ins WHERE user_id = $1 ORDER BY at, id LIMIT \(limit))
            """, [.id(user)])
    }

    private static let old = AgedRows(of: "sign_ins", key: "at, id", age: "at")

    /// Deletes attempts from before a time.
    @discardableResult
    func purge(
        before moment: Date, _ batch: MaintenanceBatch = MaintenanceBatch()
    ) throws -> MaintenanceBatch.Outcome {
        try Self.old.take(before: moment, batch, in: transaction)
    }
}

/// The attempts from busy networks that were only counted.
package struct SignInTallyRepository {
    private let transaction: any Transaction

    private static let columns = ColumnTuple(
        Column<String>("provider_id"), Column<Date>("hour"), Column<Digest256>("network"), Column<Int>("accepted"),
        Column<Int>("refused"))
}

package extension SignInTallyRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// Enqueues the addition of counts to the row of a provider, network and hour.
    func enqueueAdd(_ tally: SignInAttempt.Tally) throws {
        try transaction.enqueue(
            """
            INSERT INTO sign_in_tallies (\(Self.columns)) VALUES (\(Self.columns.placeholders))
            ON CONFLICT (provider_id, hour, network) DO UPDATE
            SET accepted = sign_in_tallies.accepted + excluded.accepted,
                refused = sign_in_tallies.refused + excluded.refused
            """,
            Self.columns.row(
                tally.providerID?.description ?? "", tally.hour.start, tally.network, tally.accepted, tally.refused))
    }

    private static let sums = ColumnTuple(
        Column<Int>("CAST(COALESCE(SUM(accepted), 0) AS BIGINT)"),
        Column<Int>("CAST(COALESCE(SUM(refused), 0) AS BIGINT)"))

    /// How many attempts of a provider's users were only counted since a time, in at most 10,000 rows.
    func counted(of provider: ProviderID, since moment: Date) throws -> (accepted: Int, refused: Int) {
        let row = try transaction.first(
            """
            SELECT \(Self.sums) FROM (
                SELECT accepted, refused FROM sign_in_tallies WHERE provider_id = $1 AND hour >= $2
                ORDER BY hour DESC LIMIT 10000
            ) AS newest
            """, [.id(provider), .time(SignInAttempt.Tally.Hour(of: moment).start)])
        return try row.map { try Self.sums.read($0) } ?? (0, 0)
    }

    private static let old = AgedRows(of: "sign_in_tallies", key: "provider_id, hour, network", age: "hour")

    /// Deletes counts from before a time.
    @discardableResult
    func purge(
        before moment: Date, _ batch: MaintenanceBatch = MaintenanceBatch()
    ) throws -> MaintenanceBatch.Outcome {
        try Self.old.take(before: moment, batch, in: transaction)
    }
}
