import Database
import Domain
import Encoding
import Foundation

/// Every requested text, as the basis of the limits. Numbers and prefixes are stored as blind indexes.
package struct PhoneSendRepository {
    private let transaction: any Transaction

    /// Reads only the user's own requests, whatever the number of others for this phone number.
    static let askedByUser = "SELECT COUNT(*) FROM phone_sends WHERE user_id = $1 AND number_index = $2 AND at > $3"

    /// Reads only sent texts, whatever the number of withheld ones.
    static let sentToNumber = """
        SELECT \(sentInDayAndHour) FROM phone_sends
        WHERE number_index = $1 AND at > $2 AND withheld IS NULL AND by_owner = $4
        """
}

package extension PhoneSendRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// Rows are counted, never read as a whole.
    private static let columns = ColumnTuple(
        Column<Identifier<PhoneSendRepository>>("id"), Column<PhoneVerificationID>("verification_id"),
        Column<UserID>("user_id"), Column<Digest256>("number_index"), Column<Date>("at"), Column<Bool>("by_owner"),
        Column<String?>("withheld"), Column<Bool>("verified"), Column<String?>("counters"),
        Column<String?>("places"))
    private static let stops = ColumnTuple(Column<String>("subject"), Column<Date>("ends_at"))
    private static let spend = ColumnTuple(Column<Int64>("day"), Column<Int>("amount"))
    private static let providerSpend = ColumnTuple(
        Column<Int64>("day"), Column<ProviderID>("provider_id"), Column<Int>("amount"))

    private static let sentInDayAndHour = ColumnTuple(
        Column<Int>("COUNT(*)"), Column<Int>("COUNT(CASE WHEN at > $3 THEN 1 END)"))

    /// The numbers of earlier texts that decide on a text to a target.
    ///
    /// Rows are counted only if a limit of the user or the number bounds them. Shared numbers are read from counters.
    func counts(for target: SendTarget, policy: PhonePolicy) throws -> SendCounts {
        let now = transaction.now
        let (hour, day) = (Value.time(now.addingTimeInterval(-3600)), Value.time(now.addingTimeInterval(-86_400)))
        let number = target.number.value
        var counts = SendCounts()
        counts.otherNumbersOfUser = try count(
            "SELECT COUNT(DISTINCT number_index) FROM phone_sends WHERE user_id = $1 AND at > $2 AND number_index <> $3",
            [.id(target.userID), .time(now.addingTimeInterval(-policy.numbersPerUserPeriod)), number])
        counts.askedByUserToday = try count(Self.askedByUser, [.id(target.userID), number, day])
        (counts.numberLastDay, counts.numberLastHour) =
            try transaction.first(Self.sentToNumber, [number, day, hour, target.isOwner.value])
            .map(Self.sentInDayAndHour.read) ?? (0, 0)
        target.fill(
            &counts, from: try PhoneTallyRepository(transaction).find(target.counters), thinned: try thinned(target))
        if let group = target.group { counts.groupInPeriod = try PhoneGroupRepository(transaction).find(group) }
        counts.spentToday = try spentToday()
        counts.spentTodayByProvider = try count(
            "SELECT amount FROM phone_provider_spend WHERE day = $1 AND provider_id = $2",
            [Self.day(now).value, .id(target.providerID)])
        return counts
    }

    /// The cost of the texts of this day (UTC), in thousandths of the currency.
    func spentToday() throws -> Int {
        try count("SELECT amount FROM phone_spend WHERE day = $1", [Self.day(transaction.now).value])
    }

    /// Records a requested text with the decision, its cost, and the scope that it limits.
    ///
    /// - Parameter places: the places that the request took in its sender's limits; `nil` if these are off.
    func record(
        _ decision: SendGuard.Decision, to target: SendTarget, verification: PhoneVerificationID, id: UUID,
        places: RateRepository.Places?, policy: PhonePolicy
    ) throws {
        let now = transaction.now
        var (withheld, counters) = (SendGuard.WithheldReason?.none, [String]())
        switch decision {
        case .send(let attributedTo, let through):
            counters = target.counters(attributedTo: attributedTo, through: through)
            try PhoneTallyRepository(transaction).add(sends: 1, verified: 0, to: counters, at: now)
            if let group = target.group {
                try PhoneGroupRepository(transaction).add(sends: 1, verified: 0, to: group, at: now)
            }
            try spend(policy.textPrice, target.providerID)
        case .withhold(let reason, let scope):
            withheld = reason
            if let scope {
                try transaction.enqueue(
                    """
                    INSERT INTO phone_stops (\(Self.stops)) VALUES (\(Self.stops.placeholders))
                    ON CONFLICT (subject) DO UPDATE SET ends_at = excluded.ends_at
                    """, Self.stops.row(target.name(of: scope), now.addingTimeInterval(policy.breakerPause)))
            }
        }
        try transaction.enqueue(
            "INSERT INTO phone_sends (\(Self.columns)) VALUES (\(Self.columns.placeholders))",
            Self.columns.row(
                Identifier(id), verification, target.userID, target.number, now, target.isOwner, withheld?.rawValue,
                false, withheld == nil ? counters.joined(separator: "\n") : nil, withheld == nil ? places?.text : nil))
    }

    /// Records that a verification's texts led to a correct code. The places that they took in their group's budgets
    /// and in their sender's limits become free.
    func recordVerified(_ verification: PhoneVerificationID) throws {
        let counted = ColumnTuple(Column<Date>("at"), Column<String>("counters"), Column<String?>("places"))
        let rows = try transaction.query(
            """
            SELECT \(counted) FROM phone_sends
            WHERE verification_id = $1 AND verified = 0 AND counters IS NOT NULL
            """, [.id(verification)]
        ).map(counted.read)
        try transaction.execute(
            "UPDATE phone_sends SET verified = 1 WHERE verification_id = $1", [.id(verification)])
        for (sentAt, names, places) in rows {
            let counters = names.split(separator: "\n").map(String.init)
            try PhoneTallyRepository(transaction).add(sends: 0, verified: 1, to: counters, at: sentAt)
            for group in counters where SendTarget.isGroup(group) {
                try PhoneGroupRepository(transaction).add(sends: 0, verified: 1, to: group, at: sentAt)
            }
            if let places { try RateRepository(transaction).giveBack(RateRepository.Places(text: places)) }
        }
    }

    /// The scopes that the breaker limits now, ordered by the name that they have in the audit log. A limit ends at its
    /// time, unless an admin ends it before.
    ///
    /// - Parameter cursor: the name after which the list starts.
    func thinned(limit: Int, after cursor: String? = nil) throws -> [(name: String, endsAt: Date)] {
        if let cursor, try transaction.first("SELECT 1 FROM phone_stops WHERE subject = $1", [.text(cursor)]) == nil {
            throw Refusal.cursorGone(cursor)
        }
        return try transaction.query(
            "SELECT \(Self.stops) FROM phone_stops WHERE subject > $1 AND ends_at > $2 ORDER BY subject LIMIT $3",
            [.text(cursor ?? ""), .time(transaction.now), limit.value]
        ).map { row in
            let (name, endsAt) = try Self.stops.read(row)
            return (name: name, endsAt: endsAt)
        }
    }

    /// Ends the limit of a scope, and deletes the counts that led to it.
    ///
    /// - Returns: whether it was limited.
    func lift(_ name: String) throws -> Bool {
        let isThinned = try self.isThinned(name)
        try transaction.execute("DELETE FROM phone_stops WHERE subject = $1", [.text(name)])
        if isThinned { try PhoneTallyRepository(transaction).reset(name) }
        return isThinned
    }

    private static let old = AgedRows(of: "phone_sends", key: "id", age: "at")
    private static let oldCounters = AgedRows(
        "UPDATE phone_sends SET counters = NULL, places = NULL", of: "phone_sends", key: "id", age: "at",
        and: "counters IS NOT NULL")

    /// Deletes rows that are too old for every limit.
    @discardableResult
    func purge(
        before moment: Date, _ batch: MaintenanceBatch = MaintenanceBatch()
    ) throws -> MaintenanceBatch.Outcome {
        try Self.old.take(before: moment, batch, in: transaction)
    }

    /// Deletes the networks of requests whose codes have expired.
    @discardableResult
    func dropCounters(_ batch: MaintenanceBatch = MaintenanceBatch()) throws -> MaintenanceBatch.Outcome {
        try Self.oldCounters.take(before: transaction.now.addingTimeInterval(-7200), batch, in: transaction)
    }

    /// Deletes ended limits, and the costs of days before a time; returns the number of rows.
    @discardableResult
    func purgeSums(before moment: Date) throws -> Int {
        try transaction.execute("DELETE FROM phone_stops WHERE ends_at < $1", [.time(transaction.now)])
            + transaction.execute("DELETE FROM phone_spend WHERE day < $1", [Self.day(moment).value])
            + transaction.execute("DELETE FROM phone_provider_spend WHERE day < $1", [Self.day(moment).value])
    }

    /// Deletes the counters of texts that are too old for every limit.
    func purgeTallies(_ batch: MaintenanceBatch) throws -> MaintenanceBatch.Outcome {
        try PhoneTallyRepository(transaction).purge(batch)
    }

    /// Deletes the counts of requesters' groups for days that are no longer read.
    func purgeGroups(_ batch: MaintenanceBatch) throws -> MaintenanceBatch.Outcome {
        try PhoneGroupRepository(transaction).purge(batch)
    }

    private func spend(_ price: Int, _ provider: ProviderID) throws {
        let day = Self.day(transaction.now)
        try transaction.enqueue(
            """
            INSERT INTO phone_spend (\(Self.spend)) VALUES (\(Self.spend.placeholders))
            ON CONFLICT (day) DO UPDATE SET amount = phone_spend.amount + excluded.amount
            """, Self.spend.row(day, price))
        try transaction.enqueue(
            """
            INSERT INTO phone_provider_spend (\(Self.providerSpend)) VALUES (\(Self.providerSpend.placeholders))
            ON CONFLICT (day, provider_id) DO UPDATE SET amount = phone_provider_spend.amount + excluded.amount
            """, Self.providerSpend.row(day, provider, price))
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
        try transaction.value(sql, arguments) ?? 0
    }

    /// The number of the day since 1970, UTC.
    private static func day(_ moment: Date) -> Int64 { PhoneGroupRepository.day(moment) }
}
