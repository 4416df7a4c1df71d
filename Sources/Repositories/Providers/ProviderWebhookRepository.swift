import Database
import Domain
import Encoding
import Foundation

/// The webhooks that providers receive events about their users at, and the events that wait to be sent.
package struct ProviderWebhookRepository {
    private let transaction: any Transaction

    /// How long an event is worth telling, seconds.
    static let eventLifetime: TimeInterval = 3 * 86_400

    package init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = ColumnTuple(
        Column<ProviderID>("provider_id"), Column<String>("url"))
    private static let breaker = ColumnTuple(Column<Int>("failures"), Column<Date?>("resting_until"))

    /// A provider's receiver; `nil` if it has none.
    package func find(_ provider: ProviderID) throws -> String? {
        try transaction.value("SELECT url FROM provider_webhooks WHERE provider_id = $1", [.id(provider)])
    }

    /// All providers' receivers.
    package func all() throws -> [ProviderID: String] {
        let columns = ColumnTuple(Column<ProviderID>("provider_id"), Column<String>("url"))
        let rows = try transaction.query("SELECT \(columns) FROM provider_webhooks").map(columns.read)
        return Dictionary(rows.map { ($0.0, $0.1) }) { first, _ in first }
    }

    /// Sets a provider's receiver.
    package func set(_ url: String, of provider: ProviderID) throws {
        try transaction.execute(
            """
            INSERT INTO provider_webhooks (\(Self.columns)) VALUES (\(Self.columns.placeholders))
            ON CONFLICT (provider_id) DO UPDATE SET url = excluded.url, failures = 0, resting_until = NULL
            """, Self.columns.row(provider, url))
    }

    /// Takes a receiver away that says that it is gone, unless the provider has set another meanwhile; whether it was
    /// there.
    package func remove(_ provider: ProviderID, at url: String) throws -> Bool {
        try transaction.execute(
            "DELETE FROM provider_webhooks WHERE provider_id = $1 AND url = $2", [.id(provider), .text(url)]) > 0
    }

    /// Takes it away; what waits for it has nowhere to go.
    package func remove(_ provider: ProviderID) throws {
        try transaction.execute("DELETE FROM provider_webhooks WHERE provider_id = $1", [.id(provider)])
    }

    /// The breaker of a provider's receiver; a new one if there is no receiver.
    package func breaker(of provider: ProviderID) throws -> ReceiverBreaker {
        try transaction.first(
            "SELECT \(Self.breaker) FROM provider_webhooks WHERE provider_id = $1", [.id(provider)]
        ).map { row in
            let (failures, pausedUntil) = try Self.breaker.read(row)
            return ReceiverBreaker(failures: failures, pausedUntil: pausedUntil)
        } ?? ReceiverBreaker()
    }

    /// Writes what an attempt says of a receiver: that it answers, or that it does not. Of one that was replaced
    /// meanwhile nothing is known.
    ///
    /// - Parameter asked: the seconds for which a receiver that failed wants to be left alone.
    /// - Returns: whether the receiver is left alone from now on.
    package func note(
        answered: Bool, by url: String, of provider: ProviderID, asked: TimeInterval? = nil
    ) throws -> Bool {
        if answered {
            try transaction.execute(
                """
                UPDATE provider_webhooks SET failures = 0, resting_until = NULL
                WHERE provider_id = $1 AND url = $2 AND failures > 0
                """, [.id(provider), .text(url)])
            return false
        }
        _ = try transaction.query(
            "SELECT 1 FROM provider_webhooks WHERE provider_id = $1\(transaction.lockingRows)", [.id(provider)])
        let after = try breaker(of: provider).failed(at: transaction.now, asked: asked)
        let changed = try transaction.execute(
            "UPDATE provider_webhooks SET failures = $3, resting_until = $4 WHERE provider_id = $1 AND url = $2",
            [.id(provider), .text(url), after.failures.value, .time(after.pausedUntil)])
        return changed > 0 && after.pausedUntil != nil
    }

    /// How long a test is worth sending, seconds: whoever asked for it waits for it.
    private static let testLifetime: TimeInterval = 300

    /// Writes an event for a provider's receiver into the outbox, in the transaction that made it.
    package func enqueue(
        _ id: OutboxMessageID, _ event: ProviderEvent, of user: UserID, to provider: ProviderID
    ) throws {
        try enqueue(id, event.jsonText, of: user, to: provider, for: Self.eventLifetime)
    }

    /// Writes a test event, which is about nobody.
    package func enqueueTest(_ id: OutboxMessageID, state: String, to provider: ProviderID) throws {
        try enqueue(
            id, StreamEvent.verification(state: state).jsonText(cause: id.description), of: UserID(provider.uuid),
            to: provider, for: Self.testLifetime)
    }

    private func enqueue(
        _ id: OutboxMessageID, _ event: String, of user: UserID, to provider: ProviderID, for lifetime: TimeInterval
    ) throws {
        let now = transaction.now
        try OutboxRepository(transaction).enqueueInsert(
            OutboxMessage(
                id: id, kind: .providerEvent, owner: OutboxOwner(provider), subject: provider.description, userID: user,
                deduplicationKey: "event \(id)", payload: Array(event.utf8), createdAt: now,
                expiresAt: now.addingTimeInterval(lifetime), dueAt: now))
    }
}
