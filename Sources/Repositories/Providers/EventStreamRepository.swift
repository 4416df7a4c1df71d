import Database
import Domain
import Encoding
import Foundation

package struct EventStreamRepository {
    private let transaction: any Transaction
}

package extension EventStreamRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// The sealed header and the receiver's breaker have their own statements. `holds` is 1 if the outbox must not send
    /// events now.
    private static let columns = Table<EventStream>(
        "event_streams",
        {
            id, provider, pushURL, approvedURL, events, description, algorithm, subjectForm, status, statusReason,
            createdAt, verifiedAt, activeAt, _ in
            EventStream(
                id: id, provider: provider,
                settings: EventStream.Settings(
                    delivery: pushURL.map { .push($0) } ?? .poll, requested: events.map(Self.list),
                    description: description, algorithm: algorithm, subjectForm: subjectForm),
                status: status, statusReason: statusReason, createdAt: createdAt, approvedURL: approvedURL,
                verifiedAt: verifiedAt, activeAt: activeAt)
        },
        Field("id", \.id),
        Field("provider_id", \.provider),
        Field("push_url", pushURL(of:)),
        Field("approved_url", \.approvedURL),
        Field("events") { $0.settings.requested.map(text(of:)) },
        Field("description", \.settings.description),
        Field("algorithm", \.settings.algorithm),
        Field("subject_form", \.settings.subjectForm),
        Field("status", \.status),
        Field("status_reason", \.statusReason),
        Field("created_at", \.createdAt),
        Field("verified_at", \.verifiedAt),
        Field("active_at", \.activeAt),
        Field("holds") { $0.present.status == .paused })

    private static func pushURL(of stream: EventStream) -> String? {
        if case .push(let url) = stream.settings.delivery { url } else { nil }
    }

    /// The stored list of URIs.
    private static func text(of list: [String]) -> String { JSONValue.array(list.map { .string($0) }).jsonText }

    /// The URIs of a stored list.
    private static func list(_ text: String) -> [String] {
        guard case .array(let values)? = try? StrictJSON.parse(Array(text.utf8)) else { return [] }
        return values.compactMap(\.text)
    }

    /// A stream; `nil` if there is none.
    func find(_ id: EventStreamID) throws -> EventStream? {
        try transaction.first(Self.columns, "WHERE id = $1", [.id(id)])
    }

    /// The streams of a provider, oldest first.
    func list(of provider: ProviderID) throws -> [EventStream] {
        try transaction.query(Self.columns, "WHERE provider_id = $1 ORDER BY created_at, id", [.id(provider)])
    }

    func all() throws -> [EventStream] {
        try transaction.query(Self.columns, "ORDER BY id")
    }

    /// Inserts or overwrites a stream. A new push address resets the breaker.
    func save(_ stream: EventStream) throws {
        try transaction.execute(
            """
            \(Self.columns.insertion)
            ON CONFLICT (id) DO UPDATE SET \(Self.columns.overwriting(except: ["id", "provider_id", "created_at"])),
                failures = CASE WHEN event_streams.push_url = excluded.push_url THEN event_streams.failures ELSE 0 END,
                resting_until =
                    CASE WHEN event_streams.push_url = excluded.push_url THEN event_streams.resting_until END
            """, Self.columns.row(stream))
    }

    /// Disables a stream; `false` if it does not exist or is disabled already.
    func disable(_ id: EventStreamID, because reason: String) throws -> Bool {
        try transaction.execute(
            """
            UPDATE event_streams SET status = 'disabled', status_reason = $2, holds = 0
            WHERE id = $1 AND status <> 'disabled'
            """, [.id(id), .text(reason)]) > 0
    }

    /// Stores the receiver's last activity in a stream; `nil` if inactivity is not limited.
    func setActive(_ time: Date?, of id: EventStreamID) throws {
        try transaction.execute(
            "UPDATE event_streams SET active_at = $2 WHERE id = $1", [.id(id), time.map { .time($0) } ?? .null])
    }

    func remove(_ id: EventStreamID) throws {
        try transaction.execute("DELETE FROM event_streams WHERE id = $1", [.id(id)])
    }

    // MARK: The header of the push receiver

    private static let sealed = ColumnTuple(
        Column<[UInt8]>(SealedColumn.streamAuthorization.name), Column<Int>("authorization_version"))

    /// The `Authorization` header for the push receiver; `nil` for none.
    ///
    /// - Throws: ``SealingFailure``.
    func authorization(of id: EventStreamID, keys: PersonalKeys) throws -> Secret<String>? {
        let row = try transaction.first(
            "SELECT \(Self.sealed) FROM event_streams WHERE id = $1 AND sealed_authorization IS NOT NULL", [.id(id)])
        return try row.map { row in
            let (bytes, version) = try Self.sealed.read(row)
            return Secret(
                try keys.open(SealedText(bytes: bytes, version: version), in: .streamAuthorization, of: id))
        }
    }

    /// Stores the header, sealed for its place.
    ///
    /// - Throws: ``SealingFailure``.
    func setAuthorization(_ text: Secret<String>?, of id: EventStreamID, keys: PersonalKeys) throws {
        let sealed = try text.map { try keys.seal($0.reveal(), in: .streamAuthorization, of: id) }
        try transaction.execute(
            "UPDATE event_streams SET sealed_authorization = $2, authorization_version = $3 WHERE id = $1",
            [.id(id), sealed?.bytes.value ?? .null, sealed?.version.value ?? .null])
    }

    /// Seals some of the headers again that are sealed under older versions of the wrapping key.
    ///
    /// - Returns: how many; fewer than `limit` if none is left.
    func rewrap(limit: Int, keys: PersonalKeys) throws -> Int {
        let ids: [EventStreamID] = try transaction.values(
            "SELECT id FROM event_streams WHERE authorization_version < $1 ORDER BY id LIMIT $2",
            [keys.currentWrappingVersion.value, limit.value])
        for id in ids { try setAuthorization(try authorization(of: id, keys: keys), of: id, keys: keys) }
        return ids.count
    }

    /// The number of headers under each version of the wrapping key.
    func countByVersion() throws -> [Int: Int] {
        let counts = ColumnTuple(Column<Int>("authorization_version"), Column<Int>("COUNT(*)"))
        let rows = try transaction.query(
            """
            SELECT \(counts) FROM event_streams WHERE authorization_version IS NOT NULL
            GROUP BY authorization_version
            """)
        return Dictionary(try rows.map(counts.read), uniquingKeysWith: { first, _ in first })
    }

    // MARK: Waiting events

    /// A stream's data for writing events.
    struct Receiver: Sendable {
        package let id: EventStreamID
        let provider: ProviderID
        package let isPolled: Bool
        private let events: [String]?
        /// Whether the receiver removed any subject.
        package let leavesSubjectsOut: Bool

        init(
            id: EventStreamID, of provider: ProviderID, isPolled: Bool, events: [String]?,
            leavesSubjectsOut: Bool = false
        ) {
            self.id = id
            self.provider = provider
            self.isPolled = isPolled
            self.events = events
            self.leavesSubjectsOut = leavesSubjectsOut
        }

        /// From a stream that was read before.
        package init(_ stream: EventStream) {
            self.init(
                id: stream.id, of: stream.provider, isPolled: stream.settings.delivery == .poll,
                events: stream.settings.requested)
        }

        package func wants(_ type: String) -> Bool { events?.contains(type) ?? true }

        var kind: OutboxKind { isPolled ? .polledEvent : .providerEvent }
    }

    private static let receiver = ColumnTuple(
        Column<EventStreamID>("id"), Column<String?>("push_url"), Column<String?>("events"),
        Column<Bool>(
            "COALESCE((SELECT 1 FROM event_stream_exclusions x WHERE x.stream_id = event_streams.id LIMIT 1), 0)"))

    /// The streams of a provider that keep or send events.
    func receivers(of provider: ProviderID) throws -> [Receiver] {
        try transaction.query(
            "SELECT \(Self.receiver) FROM event_streams WHERE provider_id = $1 AND status <> 'disabled'",
            [.id(provider)]
        ).map { row in
            let (id, url, events, leavesOut) = try Self.receiver.read(row)
            return Receiver(
                id: id, of: provider, isPolled: url == nil, events: events.map(Self.list),
                leavesSubjectsOut: leavesOut)
        }
    }

    /// Writes an event for a stream into the outbox.
    ///
    /// - Parameters:
    ///   - user: the user it is about; `nil` if it is about the stream.
    ///   - cause: the id of its cause.
    func enqueue(
        _ id: OutboxMessageID, _ event: StreamEvent, of user: UserID?, in stream: Receiver, cause: String
    ) throws {
        let now = transaction.now
        try OutboxRepository(transaction).enqueueInsert(
            OutboxMessage(
                id: id, kind: stream.kind, owner: OutboxOwner(stream.provider), subject: stream.id.description,
                userID: user ?? UserID(stream.id.uuid),
                deduplicationKey: "event \(id)", payload: Array(event.jsonText(cause: cause).utf8), createdAt: now,
                expiresAt: now.addingTimeInterval(ProviderWebhookRepository.eventLifetime), dueAt: now))
    }

    private static let breaker = ColumnTuple(Column<Int>("failures"), Column<Date?>("resting_until"))

    /// Records the result of an attempt to push.
    ///
    /// - Parameter asked: the pause in seconds that a failed receiver requested.
    /// - Returns: the provider if its receiver is paused from now on; otherwise `nil`.
    func note(
        answered: Bool, by url: String, of id: EventStreamID, asked: TimeInterval? = nil
    ) throws -> ProviderID? {
        if answered {
            try transaction.execute(
                """
                UPDATE event_streams SET failures = 0, resting_until = NULL
                WHERE id = $1 AND push_url = $2 AND failures > 0
                """, [.id(id), .text(url)])
            return nil
        }
        guard
            let row = try transaction.first(
                "SELECT \(Self.breaker) FROM event_streams WHERE id = $1\(transaction.lockingRows)", [.id(id)])
        else { return nil }
        let (failures, pausedUntil) = try Self.breaker.read(row)
        let after = ReceiverBreaker(failures: failures, pausedUntil: pausedUntil)
            .failed(at: transaction.now, asked: asked)
        let provider: ProviderID? = try transaction.value(
            """
            UPDATE event_streams SET failures = $3, resting_until = $4 WHERE id = $1 AND push_url = $2
            RETURNING provider_id
            """, [.id(id), .text(url), after.failures.value, .time(after.pausedUntil)])
        return after.pausedUntil == nil ? nil : provider
    }

    /// Some of the streams that are not disabled, by id.
    func listOpen(after id: String, limit: Int) throws -> [EventStream] {
        try transaction.query(
            Self.columns, "WHERE id > $1 AND status <> 'disabled' ORDER BY id LIMIT $2", [.text(id), limit.value])
    }

    /// How the events of a stream are delivered: the failures in a row, the end of the pause after them, since when the
    /// next event waits, and why its last try failed.
    typealias Delivery = (
        stream: EventStreamID, failures: Int, pausedUntil: Date?, waitingSince: Date?, reason: String?
    )

    private static func next(_ column: String) -> String {
        let pushed = "o.kind = 'provider_event' AND o.state = 'waiting' ORDER BY o.due_at, o.id LIMIT 1"
        let polled = "o.kind = 'polled_event' AND o.state = 'waiting' ORDER BY o.created_at, o.id LIMIT 1"
        let parts = [pushed, polled].map { "(SELECT o.\(column) FROM outbox o WHERE o.subject = s.id AND \($0))" }
        return "COALESCE(\(parts.joined(separator: ", ")))"
    }

    private static let delivery = ColumnTuple(
        Column<EventStreamID>("s.id"), Column<Int>("s.failures"), Column<Date?>("s.resting_until"),
        Column<Date?>(next("created_at")), Column<String?>(next("reason")))

    /// The deliveries of a provider's streams, oldest stream first.
    func deliveries(of provider: ProviderID) throws -> [Delivery] {
        try transaction.query(
            "SELECT \(Self.delivery) FROM event_streams s WHERE s.provider_id = $1 ORDER BY s.created_at, s.id",
            [.id(provider)]
        ).map { row in
            let (stream, failures, pausedUntil, waitingSince, reason) = try Self.delivery.read(row)
            return (stream, failures, pausedUntil, waitingSince, reason)
        }
    }
}

extension EventStream.Status: ColumnContent {}
extension EventStream.Settings.SubjectForm: ColumnContent {}
