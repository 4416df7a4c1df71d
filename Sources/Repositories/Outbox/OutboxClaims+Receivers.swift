import Database
import Domain
import Foundation

/// The receivers of events, which share slots by owner and by their failures.
extension OutboxClaims {
    private static let isWaiting = "o.state = 'waiting' AND o.kind = 'provider_event'"
    private static let isUnderWay = "lease IS NOT NULL AND kind = 'provider_event' AND leased_until > $1"
    private static let receiver = ColumnTuple(
        Column<String>("w.subject"), Column<String>("COALESCE(e.provider_id, w.subject)"),
        Column<Date?>(
            """
            (
                SELECT o.due_at FROM outbox o WHERE \(isWaiting) AND o.subject = w.subject AND o.due_at >= w.since
                    AND o.lease IS NULL
                ORDER BY o.due_at LIMIT 1
            )
            """),
        Column<Int?>("COALESCE(r.failures, e.failures)"),
        // A stream that keeps its events is treated as a receiver that is paused until the year 9999.
        Column<Date?>(
            "CASE WHEN e.holds = 1 THEN 253402300799000 ELSE COALESCE(r.resting_until, e.resting_until) END"))
    private static let underWay = ColumnTuple(Column<String>("subject"), Column<Int>("COUNT(*)"))

    /// The number of receivers in one statement. A shorter list is padded, so that there is only one text.
    private static let atOnce = 50
    private static let statement = """
        WITH waiting(subject, since) AS (
            VALUES \((0..<atOnce).map { "(CAST($\(2 * $0 + 1) AS TEXT), CAST($\(2 * $0 + 2) AS BIGINT))" }
                .joined(separator: ", "))
        )
        SELECT \(receiver)
        FROM waiting w LEFT JOIN provider_webhooks r ON r.provider_id = w.subject
            LEFT JOIN event_streams e ON e.id = w.subject
        WHERE w.subject IS NOT NULL
        """

    /// The receivers with due events or with events being sent.
    func receivers(_ waiting: [OutboxTurns.Queue]) throws -> [ReceiverQueue] {
        let counts = Dictionary(
            try transaction.query(
                "SELECT \(Self.underWay) FROM outbox WHERE \(Self.isUnderWay) GROUP BY subject",
                [.time(transaction.now)]
            ).map(Self.underWay.read), uniquingKeysWith: +)
        let known = Set(waiting.map(\.name))
        let others = counts.keys.filter { !known.contains($0) }.sorted()
        let asked = waiting + others.map { OutboxTurns.Queue(name: $0, since: transaction.now) }
        var receivers: [ReceiverQueue] = []
        for start in stride(from: 0, to: asked.count, by: Self.atOnce) {
            let part = asked[start..<min(start + Self.atOnce, asked.count)]
            let values = part.flatMap { [Value.text($0.name), .time($0.since)] }
            let missing = Array(repeating: Value.null, count: 2 * (Self.atOnce - part.count))
            receivers += try transaction.query(Self.statement, values + missing).map { row in
                let (name, owner, due, failures, pausedUntil) = try Self.receiver.read(row)
                return ReceiverQueue(
                    receiver: name, owner: owner, due: due, underWay: counts[name] ?? 0,
                    breaker: ReceiverBreaker(failures: failures ?? 0, pausedUntil: pausedUntil))
            }
        }
        return receivers
    }
}
