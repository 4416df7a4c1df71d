import CountersignClient
import Foundation

/// Decides what to send and what to fetch. It has no side effects: the reconciler applies the decisions.
enum Synchronizer {
    /// A row of `syncable_changes`, with its subject.
    struct Change: Sendable, Hashable {
        let number: Int64
        let type: ChangeType
        let subject: Subject
    }

    enum ChangeType: Int, Sendable, Hashable { case insert, update, delete }

    /// The current content of the changed row.
    enum Subject: Sendable, Hashable {
        case conversation(Conversation, column: String?)
        case message(Message, column: String? = nil)
        case participant(user: UUID, stream: UUID, isPresent: Bool)
        case nothing
    }

    struct Conversation: Sendable, Hashable {
        let stream: UUID
        var opening: StreamOpening?
        var readThrough: Int64 = 0
        /// The service's last values, and the values that the user sees.
        var known = Metadata()
        var shown = Metadata()
    }

    struct Metadata: Sendable, Hashable {
        var shared = MetadataValue.object([:])
        var own = MetadataValue.object([:])
    }

    struct Message: Sendable, Hashable {
        let stream: UUID
        let message: NewMessage
        /// Whether the service has assigned a number.
        var isSent = false
        var isDeleted = false
        /// Whether it was deleted for the user only.
        var isDeletedForUser = false
        var known = Metadata()
        var shown = Metadata()
    }

    /// An event that is not published yet.
    struct Pending: Sendable, Hashable {
        let event: OutboundEvent
        /// How often it was sent, so that the service may have received it.
        let tries: Int
    }

    /// The result of outbound reconciliation.
    struct Plan: Sendable, Hashable {
        /// The new events, in order.
        var events: [OutboundEvent] = []
        /// Events to withdraw instead of publishing.
        var withdrawn: [OutboundEvent] = []
        /// Local messages that were never sent and are deleted.
        var discarded: [UUID] = []
        /// Streams that were never opened.
        var abandoned: [UUID] = []
    }

    /// The events for local changes. Several changes of one subject are one event.
    static func outbound(_ changes: [Change], pending: [Pending]) -> Plan {
        var plan = Plan()
        var waiting = pending
        for change in changes.sorted(by: { $0.number < $1.number }) {
            switch (change.subject, change.type) {
            case (.conversation(let one, _), .delete): delete(one.stream, &waiting, &plan)
            case (.conversation(let one, let column), _):
                for event in events(of: one, column, change.type, waiting) { add(event, &plan) }
            case (.message(let one, _), .delete): delete(one, &waiting, &plan)
            case (.message(let one, _), .insert) where !one.isSent && !one.isDeleted:
                add(.append(one.message, stream: one.stream), &plan)
            case (.message(let one, let column), .update) where !one.isDeleted:
                let event = metadata(one.known, one.shown, column, of: one.message.id, in: one.stream, waiting)
                if let event { add(event, &plan) }
            case (.participant(let user, let stream, let isPresent), _):
                add(isPresent ? .add(user: user, stream: stream) : .remove(user: user, stream: stream), &plan)
            case (.message, _), (.nothing, _): continue
            }
        }
        return plan
    }

    private static func events(
        of one: Conversation, _ column: String?, _ type: ChangeType, _ waiting: [Pending]
    ) -> [OutboundEvent] {
        if type == .insert { return one.opening.map { [.open($0)] } ?? [] }
        if column == "read_through" { return [.read(through: one.readThrough, stream: one.stream)] }
        return metadata(one.known, one.shown, column, of: nil, in: one.stream, waiting).map { [$0] } ?? []
    }

    /// The differences between the service's metadata and the user's. `nil` if there are none to send.
    private static func metadata(
        _ known: Metadata, _ shown: Metadata, _ column: String?, of message: UUID?, in stream: UUID,
        _ waiting: [Pending]
    ) -> OutboundEvent? {
        func event(_ patch: MetadataValue) -> OutboundEvent? {
            switch column {
            case Streams.Visibility.shared.column: .share(patch, message: message, stream: stream)
            case Streams.Visibility.own.column: .keep(patch, message: message, stream: stream)
            default: nil
            }
        }
        let isShared = column == Streams.Visibility.shared.column
        let (old, new) = isShared ? (known.shared, shown.shared) : (known.own, shown.own)
        let name = event(.null)?.name
        let replaced = waiting.first { $0.event.stream == stream && $0.event.name == name }?.event.patch
        let patch = old.patch(to: new, replacing: replaced)
        return patch == .object([:]) ? nil : event(patch)
    }

    private static func add(_ event: OutboundEvent, _ plan: inout Plan) {
        plan.events.removeAll { $0.stream == event.stream && $0.name == event.name }
        plan.events.append(event)
    }

    /// A message that was never sent is dropped, with its metadata. One that the service may have is deleted there.
    private static func delete(_ one: Message, _ waiting: inout [Pending], _ plan: inout Plan) {
        func isOfMessage(_ event: OutboundEvent) -> Bool {
            event.stream == one.stream && event.message == one.message.id
        }
        let name = OutboundEvent.append(one.message, stream: one.stream).name
        let mayBeSent = waiting.contains { isOfMessage($0.event) && $0.event.name == name && $0.tries > 0 }
        if one.isSent || mayBeSent {
            let (message, stream) = (one.message.id, one.stream)
            add(
                one.isDeletedForUser ? .deleteForMe(message, stream: stream) : .deleteMessage(message, stream: stream),
                &plan)
        } else {
            plan.events.removeAll(where: isOfMessage)
            plan.withdrawn += waiting.map(\.event).filter(isOfMessage)
            waiting.removeAll { isOfMessage($0.event) }
            plan.discarded.append(one.message.id)
        }
    }

    private static func delete(_ stream: UUID, _ waiting: inout [Pending], _ plan: inout Plan) {
        let isPlanned = plan.events.contains { $0.stream == stream && $0.name == "open" }
        let opening = waiting.first { $0.event.stream == stream && $0.event.name == "open" }
        plan.events.removeAll { $0.stream == stream }
        // Unconfirmed events are dropped with the stream.
        plan.withdrawn += waiting.filter { $0.event.stream == stream && $0.event.name != "open" }.map(\.event)
        waiting.removeAll { $0.event.stream == stream && $0.event.name != "open" }
        if isPlanned || opening?.tries == 0 {
            if let opening { plan.withdrawn.append(opening.event) }
            plan.abandoned.append(stream)
        } else {
            plan.events.append(.deleteStream(stream))
        }
    }

    // MARK: Fetching

    /// The range of a stream's messages that is on the device.
    struct Progress: Sendable, Hashable {
        let stream: UUID
        /// The number of the last message at the service.
        let last: Int64
        /// 0 if there is none yet.
        let through: Int64
        let isReadable: Bool
    }

    enum Fetch: Sendable, Hashable {
        /// The newest page. Older pages are fetched when they are requested.
        case newest(UUID)
        case after(UUID, Int64)
    }

    static func fetches(_ streams: [Progress]) -> [Fetch] {
        streams.filter { $0.isReadable && $0.through < $0.last }.map { one in
            one.through == 0 ? .newest(one.stream) : .after(one.stream, one.through)
        }
    }

    // MARK: Conflicts

    /// Metadata to show: the service's values, with the unconfirmed local changes applied.
    ///
    /// - Parameter message: `nil` for metadata of the stream.
    static func shown(
        _ value: MetadataValue, _ pending: [OutboundEvent], _ visibility: Streams.Visibility, of message: UUID? = nil
    ) -> MetadataValue {
        pending.reduce(value) { value, event in
            switch (event, visibility) {
            case (.share(let patch, message, _), .shared), (.keep(let patch, message, _), .own):
                value.merged(with: patch)
            default: value
            }
        }
    }

    /// Whether an anchor belongs to another timeline of the service's store than the previous one.
    static func isRestart(from old: String, to new: String) -> Bool {
        guard let before = generation(old) else { return false }
        return before != generation(new)
    }

    private static func generation(_ anchor: String) -> Substring? {
        let parts = anchor.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count > 1 ? parts[0] : nil
    }

    /// What a refusal means for an event.
    enum Outcome: Sendable, Hashable {
        /// It is sent again, before later events.
        case later
        /// The event's effect is reached already.
        case done
        /// It is never sent again, with the code of the refusal.
        case refused(String)
    }

    static func outcome(of refusal: Refusal, for event: OutboundEvent) -> Outcome {
        guard let problem = refusal.problem, case .service = refusal else { return .later }
        if problem.status >= 500 || problem.code == .rateLimited || problem.status == 401 { return .later }
        switch event {
        // Another user has deleted it.
        case .deleteMessage, .deleteForMe, .deleteStream:
            return problem.code == .notFound ? .done : .refused(problem.code.rawValue)
        case .append where problem.state == "deleted": return .done
        // Receipts for deleted or closed streams are useless.
        case .read: return .done
        default: return .refused(problem.state ?? problem.code.rawValue)
        }
    }
}
