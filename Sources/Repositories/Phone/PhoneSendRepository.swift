import Database
import Domain
import Encoding
import Foundation

/// Every text that was asked for: what the guard before the texts counts. Numbers and prefixes are blind indexes.
package struct PhoneSendRepository {
    private let transaction: any Transaction

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// Reads what one user asked for alone, however many others asked for the same number.
    static let askedByUser = "SELECT COUNT(*) FROM phone_sends WHERE user_id = $1 AND number_index = $2 AND at > $3"

    /// Reads what went out alone, however much was withheld.
    static let sentToNumber = """
        SELECT COUNT(*), COUNT(CASE WHEN at > $3 THEN 1 END) FROM phone_sends
        WHERE number_index = $1 AND at > $2 AND withheld IS NULL AND by_owner = $4
        """

    /// Counts what bears on a text to a target.
    ///
    /// Rows are counted only where a user's or number's own limits bound them; what others share is read from counters.
    package func counts(for target: SendTarget, policy: PhonePolicy) throws -> SendCounts {
        let now = transaction.now
        let (hour, day) = (Value.time(now.addingTimeInterval(-3600)), Value.time(now.addingTimeInterval(-86_400)))
        let number = Value.bytes(target.number.bytes)
        var counts = SendCounts()
        counts.otherNumbersOfUser = try count(
            "SELECT COUNT(DISTINCT number_index) FROM phone_sends WHERE user_id = $1 AND at > $2 AND number_index <> $3",
            [.id(target.userID), .time(now.addingTimeInterval(-policy.numbersPerUserPeriod)), number])
        counts.askedByUserToday = try count(Self.askedByUser, [.id(target.userID), number, day])
        let ofNumber = try transaction.first(Self.sentToNumber, [number, day, hour, Value(target.isOwner)])
        counts.numberLastDay = Int(try ofNumber?.integer(0) ?? 0)
        counts.numberLastHour = Int(try ofNumber?.integer(1) ?? 0)
        target.fill(
            &counts, from: try PhoneTallyRepository(transaction).find(target.counters), thinned: try thinned(target))
        counts.spentToday = try count("SELECT amount FROM phone_spend WHERE day = $1", [Self.day(now)])
        counts.spentTodayByProvider = try count(
            "SELECT amount FROM phone_provider_spend WHERE day = $1 AND provider_id = $2",
            [Self.day(now), .id(target.providerID)])
        return counts
    }

    /// Writes that a text was asked for and what was decided; what it costs and what it thins out with it.
    package func record(
        _ decision: SendDecision, to target: SendTarget, verification: PhoneVerificationID, id: UUID,
        policy: PhonePolicy
    ) throws {
        let now = transaction.now
        var (withheld, counters) = (WithheldReason?.none, [String]())
        switch decision {
        case .send(let bearsOn, let through):
            counters = target.counters(bearingOn: bearsOn, through: through)
            try PhoneTallyRepository(transaction).add(sends: 1, verified: 0, to: counters, at: now)
            try spend(policy.textPrice, target.providerID)
        case .withhold(let reason, let scope):
            withheld = reason
            if let scope {
                try transaction.execute(
                    """
                    INSERT INTO phone_stops (subject, ends_at) VALUES ($1, $2)
                    ON CONFLICT (subject) DO UPDATE SET ends_at = excluded.ends_at
                    """, [.text(target.name(of: scope)), .time(now.addingTimeInterval(policy.breakerPause))])
            }
        }
        try transaction.execute(
            """
            INSERT INTO phone_sends (id, verification_id, user_id, number_index, prefix_index, country, at, by_owner,
                withheld, bears_on_country, verified, counters)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, $11)
            """,
            [
                .id(Identifier<PhoneSendRepository>(id)), .id(verification), .id(target.userID),
                .bytes(target.number.bytes), .bytes(target.prefix.bytes), .text(target.country), .time(now),
                Value(target.isOwner), .optional(withheld?.rawValue),
                Value(decision.bearsOnCountry), .optional(withheld == nil ? counters.joined(separator: "\n") : nil),
            ])
    }

    /// Notes that a verification's texts brought the right code.
    package func recordVerified(_ verification: PhoneVerificationID) throws {
        let rows = try transaction.query(
            """
            SELECT at, counters FROM phone_sends
            WHERE verification_id = $1 AND verified = 0 AND counters IS NOT NULL
            """, [.id(verification)])
        try transaction.execute(
            "UPDATE phone_sends SET verified = 1 WHERE verification_id = $1", [.id(verification)])
        for row in rows {
            let counters = try row.text(1).split(separator: "\n").map(String.init)
            try PhoneTallyRepository(transaction).add(sends: 0, verified: 1, to: counters, at: try row.time(0))
        }
    }

    /// Something that is thinned out.
    package struct Thinned: Sendable {
        /// Its name, as the audit log has it.
        package let name: String
        /// Until when, unless it is lifted before.
        package let endsAt: Date
    }

    /// What is thinned out now, in the order of the names; at most so much.
    package func thinned(limit: Int) throws -> [Thinned] {
        try transaction.query(
            "SELECT subject, ends_at FROM phone_stops WHERE ends_at > $1 ORDER BY subject LIMIT $2",
            [.time(transaction.now), Value(limit)]
        ).map { Thinned(name: try $0.text(0), endsAt: try $0.time(1)) }
    }

    /// Ends the thinning out of something, and forgets what it was judged by.
    ///
    /// - Returns: whether it was thinned out.
    package func lift(_ name: String) throws -> Bool {
        let isThinned = try self.isThinned(name)
        try transaction.execute("DELETE FROM phone_stops WHERE subject = $1", [.text(name)])
        if isThinned { try PhoneTallyRepository(transaction).reset(name) }
        return isThinned
    }

    /// Forgets what no limit counts any more.
    package func purge(before moment: Date) throws {
        let now = transaction.now
        try transaction.execute("DELETE FROM phone_sends WHERE at < $1", [.time(moment)])
        try transaction.execute("DELETE FROM phone_stops WHERE ends_at < $1", [.time(now)])
        try transaction.execute("DELETE FROM phone_spend WHERE day < $1", [Self.day(moment)])
        try transaction.execute("DELETE FROM phone_provider_spend WHERE day < $1", [Self.day(moment)])
        try PhoneTallyRepository(transaction).purge()
        // A code is over by then: nobody needs to know any more from which network its text was asked for.
        try transaction.execute(
            "UPDATE phone_sends SET counters = NULL WHERE counters IS NOT NULL AND at < $1",
            [.time(now.addingTimeInterval(-7200))])
    }

    private func spend(_ price: Int, _ provider: ProviderID) throws {
        let day = Self.day(transaction.now)
        try transaction.execute(
            """
            INSERT INTO phone_spend (day, amount) VALUES ($1, $2)
            ON CONFLICT (day) DO UPDATE SET amount = phone_spend.amount + excluded.amount
            """, [day, Value(price)])
        try transaction.execute(
            """
            INSERT INTO phone_provider_spend (day, provider_id, amount) VALUES ($1, $2, $3)
            ON CONFLICT (day, provider_id) DO UPDATE SET amount = phone_provider_spend.amount + excluded.amount
            """, [day, .id(provider), Value(price)])
    }

    private func thinned(_ target: SendTarget) throws -> Set<SendScope> {
        guard !target.isOwner else { return [] }
        return Set(try SendScope.allCases.filter { try isThinned(target.name(of: $0)) })
    }

    private func isThinned(_ name: String) throws -> Bool {
        try transaction.first(
            "SELECT 1 FROM phone_stops WHERE subject = $1 AND ends_at > $2",
            [.text(name), .time(transaction.now)]) != nil
    }

    private func count(_ sql: String, _ arguments: [Value]) throws -> Int {
        Int(try transaction.first(sql, arguments)?.integer(0) ?? 0)
    }

    /// The number of the day since 1970, UTC.
    private static func day(_ moment: Date) -> Value {
        .integer(Int64((moment.timeIntervalSince1970 / 86_400).rounded(.down)))
    }
}

extension SendDecision {
    /// What the column of that name has held from the beginning.
    fileprivate var bearsOnCountry: Bool {
        if case .send(let scopes, _) = self { scopes.contains(.country) } else { false }
    }
}
