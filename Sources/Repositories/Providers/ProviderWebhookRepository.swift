import Database
import Domain
import Encoding
import Foundation

/// The webhooks to which providers' events about their users are sent, and the waiting events.
package struct ProviderWebhookRepository {
    private let transaction: any Transaction

    /// How long an event is delivered, in seconds.
    static let eventLifetime: TimeInterval = 3 * 86_400
}

package extension ProviderWebhookRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = ColumnTuple(
        Column<ProviderID>("provider_id"), Column<String>("url"))
    private static let breaker = ColumnTuple(Column<Int>("failures"), Column<Date?>("resting_until"))

    /// A provider's receiver; `nil` if it has none.
    func find(_ provider: ProviderID) throws -> String? {
        try transaction.value("SELECT url FROM provider_webhooks WHERE provider_id = $1", [.id(provider)])
    }

    func all() throws -> [ProviderID: String] {
        let columns = ColumnTuple(Column<ProviderID>("provider_id"), Column<String>("url"))
        let rows = try transaction.query("SELECT \(columns) FROM provider_webhooks").map(columns.read)
        return Dictionary(rows.map { ($0.0, $0.1) }) { first, _ in first }
    }

    func set(_ url: String, of provider: ProviderID) throws {
        try transaction.execute(
            """
            INSERT INTO provider_webhooks (\(Self.columns)) VALUES (\(Self.columns.placeholders))
            ON CONFLICT (provider_id) DO UPDATE SET url = excluded.url, failures = 0, resting_until = NULL
            """, Self.columns.row(provider, url))
    }

    /// Removes a receiver that answered 410, unless the provider has set another one meanwhile. Returns whether it was
    /// removed.
    func remove(_ provider: ProviderID, at url: String) throws -> Bool {
        try transaction.execute(
            "DELETE FROM provider_webhooks WHERE provider_id = $1 AND url = $2", [.id(provider), .text(url)]) > 0
    }

    /// Removes a receiver, with its waiting events.
    func remove(_ provider: ProviderID) throws {
        try transaction.execute("DELETE FROM provider_webhooks WHERE provider_id = $1", [.id(provider)])
    }

    /// The breaker of a provider's receiver; a new one if there is no receiver.
    func breaker(of provider: ProviderID) throws -> ReceiverBreaker {
        try transaction.first(
            "SELECT \(Self.breaker) FROM provider_webhooks WHERE provider_id = $1", [.id(provider)]
        ).map { row in
            let (failures, pausedUntil) = try Self.breaker.read(row)
            return ReceiverBreaker(failures: failures, pausedUntil: pausedUntil)
        } ?? ReceiverBreaker()
    }

    /// Records the result of an attempt. If the receiver was replaced meanwhile, it is ignored.
    ///
    /// - Parameter asked: the pause in seconds that a failed receiver requested.
    /// - Returns: whether the receiver is paused from now on.
    func note(
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

    /// How long a test event is delivered, in seconds: its caller waits for it.
    private static let testLifetime: TimeInterval = 300

    /// Writes an event for a provider's receiver into the outbox.
    func enqueue(
        _ id: OutboxMessageID, _ event: ProviderEvent, of user: UserID, to provider: ProviderID
    ) throws {
        try enqueue(id, event.jsonText, of: user, to: provider, for: Self.eventLifetime)
    }

    /// Writes a test event, which is about no user.
    func enqueueTest(_ id: OutboxMessageID, state: String, to provider: ProviderID) throws {
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
