import Database
import Foundation
import Identity

/// Every text that was asked for: what the guard before the texts counts. Numbers and prefixes are blind indexes.
public struct PhoneSendRecords {
    private let transaction: any Transaction

    /// Works inside a transaction.
    public init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// To whom a text goes, as far as it is counted.
    public struct Target: Sendable {
        /// Who asks.
        public let userID: UserID
        /// The number's blind index.
        public let number: Digest256
        /// The blind index of the number's prefix.
        public let prefix: Digest256
        /// The number's country, ISO 3166-1 alpha-2.
        public let country: String
        /// Whether the number is the asker's by an earlier proof.
        public let isOwner: Bool

        /// Joins the parts.
        public init(userID: UserID, number: Digest256, prefix: Digest256, country: String, isOwner: Bool) {
            self.userID = userID
            self.number = number
            self.prefix = prefix
            self.country = country
            self.isOwner = isOwner
        }

        func subject(of stop: SendStop) -> String {
            switch stop {
            case .prefix: "prefix \(prefix.base64URL)"
            case .country: "country \(country)"
            }
        }
    }

    /// Of a country's texts in an hour so many of the newest are looked at.
    private static let countrySample = 1000

    /// Counts what bears on a text to a target.
    public func counts(for target: Target, policy: PhonePolicy) throws -> SendCounts {
        let now = transaction.now
        let (hour, day) = (Value.time(now.addingTimeInterval(-3600)), Value.time(now.addingTimeInterval(-86_400)))
        let number = Value.bytes(target.number.bytes)
        var counts = SendCounts()
        counts.otherNumbersOfUser = try count(
            "SELECT COUNT(DISTINCT number_index) FROM phone_sends WHERE user_id = $1 AND at > $2 AND number_index <> $3",
            [.id(target.userID), .time(now.addingTimeInterval(-policy.numbersPerUserPeriod)), number])
        counts.askedByUserToday = try count(
            "SELECT COUNT(*) FROM phone_sends WHERE number_index = $1 AND at > $2 AND user_id = $3",
            [number, day, .id(target.userID)])
        let ofNumber = try transaction.first(
            """
            SELECT COUNT(*), COUNT(CASE WHEN at > $3 THEN 1 END) FROM phone_sends
            WHERE number_index = $1 AND at > $2 AND withheld IS NULL AND by_owner = $4
            """, [number, day, hour, Value(target.isOwner)])
        counts.numberLastDay = Int(try ofNumber?.integer(0) ?? 0)
        counts.numberLastHour = Int(try ofNumber?.integer(1) ?? 0)
        let ofPrefix = try transaction.first(
            """
            SELECT COUNT(*), COUNT(CASE WHEN verified = 1 THEN 1 END), COUNT(CASE WHEN at > $3 THEN 1 END),
                COUNT(CASE WHEN at > $3 AND verified = 1 THEN 1 END)
            FROM phone_sends WHERE prefix_index = $1 AND at > $2 AND withheld IS NULL
            """, [.bytes(target.prefix.bytes), day, hour])
        counts.prefixLastDay = try Self.conversion(ofPrefix, 0)
        counts.prefixLastHour = try Self.conversion(ofPrefix, 2)
        counts.country = try Self.conversion(
            try transaction.first(
                """
                SELECT COUNT(*), COUNT(CASE WHEN verified = 1 THEN 1 END) FROM (
                    SELECT verified FROM phone_sends WHERE country = $1 AND at > $2 AND bears_on_country = 1
                    ORDER BY at DESC LIMIT \(Self.countrySample)
                ) AS newest
                """, [.text(target.country), hour]), 0)
        counts.isPrefixStopped = try isStopped(target.subject(of: .prefix))
        counts.isCountryStopped = try isStopped(target.subject(of: .country))
        counts.spentToday = try count("SELECT amount FROM phone_spend WHERE day = $1", [Self.day(now)])
        return counts
    }

    /// Writes that a text was asked for and what was decided; what it costs and what it stops with it.
    public func record(
        _ decision: SendDecision, to target: Target, verification: PhoneVerificationID, id: UUID, policy: PhonePolicy
    ) throws {
        let now = transaction.now
        var (withheld, bearsOnCountry) = (WithheldReason?.none, false)
        switch decision {
        case .send(let bears):
            bearsOnCountry = bears
            try transaction.execute(
                """
                INSERT INTO phone_spend (day, amount) VALUES ($1, $2)
                ON CONFLICT (day) DO UPDATE SET amount = phone_spend.amount + excluded.amount
                """, [Self.day(now), Value(policy.textPrice)])
        case .withhold(let reason, let stop):
            withheld = reason
            if let stop {
                try transaction.execute(
                    """
                    INSERT INTO phone_stops (subject, ends_at) VALUES ($1, $2)
                    ON CONFLICT (subject) DO UPDATE SET ends_at = excluded.ends_at
                    """, [.text(target.subject(of: stop)), .time(now.addingTimeInterval(policy.breakerPause))])
            }
        }
        try transaction.execute(
            """
            INSERT INTO phone_sends (id, verification_id, user_id, number_index, prefix_index, country, at, by_owner,
                withheld, bears_on_country, verified)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0)
            """,
            [
                .id(Identifier<PhoneSendRecords>(id)), .id(verification), .id(target.userID),
                .bytes(target.number.bytes), .bytes(target.prefix.bytes), .text(target.country), .time(now),
                Value(target.isOwner), .optional(withheld?.rawValue), Value(bearsOnCountry),
            ])
    }

    /// Notes that a verification's texts brought the right code.
    public func recordVerified(_ verification: PhoneVerificationID) throws {
        try transaction.execute(
            "UPDATE phone_sends SET verified = 1 WHERE verification_id = $1", [.id(verification)])
    }

    /// Forgets what no limit counts any more.
    public func purge(before moment: Date) throws {
        try transaction.execute("DELETE FROM phone_sends WHERE at < $1", [.time(moment)])
        try transaction.execute("DELETE FROM phone_stops WHERE ends_at < $1", [.time(moment)])
        try transaction.execute("DELETE FROM phone_spend WHERE day < $1", [Self.day(moment)])
    }

    private func count(_ sql: String, _ arguments: [Value]) throws -> Int {
        Int(try transaction.first(sql, arguments)?.integer(0) ?? 0)
    }

    private func isStopped(_ subject: String) throws -> Bool {
        try transaction.first(
            "SELECT 1 FROM phone_stops WHERE subject = $1 AND ends_at > $2",
            [.text(subject), .time(transaction.now)]) != nil
    }

    private static func conversion(_ row: Row?, _ column: Int) throws -> Conversion {
        Conversion(
            sends: Int(try row?.integer(column) ?? 0), verified: Int(try row?.integer(column + 1) ?? 0))
    }

    /// The number of the day since 1970, UTC.
    private static func day(_ moment: Date) -> Value {
        .integer(Int64((moment.timeIntervalSince1970 / 86_400).rounded(.down)))
    }
}
