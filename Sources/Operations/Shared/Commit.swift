import Database
import Domain
import Encoding
import Foundation
import Repositories

/// Changes a store, and applies the consequences of the recorded events.
struct Commit: Sendable {
    let store: any Database
    let lane: Lane
    /// The turn of writers that read and change the same rows.
    var turn: Turn?
    let environment: Environment
    /// This process as a node; `nil` for a command, which has no caches.
    let node: ServingNode?

    /// The consequences to apply after the commit.
    struct Aftermath: Sendable {
        var changes: [ChangeLog.Change] = []
        var opened: [Session] = []
        var wakesOutbox = false
        /// Streams that have new events now.
        var streams: Set<EventStreamID> = []
        var leavesRows = false

        init() {}

        /// The consequences to apply after a statement that committed the events and their entries of the change log.
        init(of events: [DomainEvent]) {
            for consequence in events.map(Consequence.init(of:)) {
                add(consequence)
                changes += consequence.notices
            }
        }

        mutating func add(_ consequence: Consequence) {
            changes += consequence.here
            streams.formUnion(consequence.streams)
            if let session = consequence.opened { opened.append(session) }
            if consequence.wakesOutbox { wakesOutbox = true }
            if consequence.leavesRows { leavesRows = true }
        }
    }

    /// Runs a body in a transaction with all consequences.
    ///
    /// - Parameter body: records its events. It may run again, without events.
    /// - Throws: `Refusal` `unavailable`; what the body throws.
    func callAsFunction<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction, inout RecordedEvents) throws -> T
    ) async throws -> T {
        try await commit(body) { try await store.transaction(on: lane, inTurn: turn, $0) }
    }

    /// Runs a body that maintains rows, with all consequences: see `Database/maintain(_:)`.
    ///
    /// - Throws: `Refusal` `unavailable`; what the body throws.
    func maintain<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction, inout RecordedEvents) throws -> T
    ) async throws -> T {
        try await commit(body) { try await store.maintained($0) }
    }

    private typealias Work<T> = @Sendable (any Transaction) throws -> (value: T, aftermath: Aftermath)

    private func commit<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction, inout RecordedEvents) throws -> T,
        by run: (@escaping Work<T>) async throws -> (value: T, aftermath: Aftermath)
    ) async throws -> T {
        let mark = node?.caches.sessions.mark ?? 0
        let outcome: (value: T, aftermath: Aftermath)
        do {
            outcome = try await run { transaction in
                var events = RecordedEvents()
                let value = try body(transaction, &events)
                return (value, try write(events, in: transaction))
            }
        } catch let refusal as Refusal where refusal.reason == .outcomeUnknown {
            node?.doubt()
            throw refusal
        }
        do {
            try await node?.apply(outcome.aftermath, since: mark)
        } catch {
            // The transaction is committed anyway.
            node?.doubt()
            throw error
        }
        return outcome.value
    }

    /// Writes audit entries, entries of the change log and security events, in the transaction of the change.
    @discardableResult
    func write(_ events: RecordedEvents, in transaction: any Transaction) throws -> Aftermath {
        guard !events.entries.isEmpty else { return Aftermath() }
        var aftermath = Aftermath()
        var (notices, announced): ([ChangeLog.Change], [ChangeLog.Change]) = ([], [])
        var seen: Set<ChangeLog.Change> = []
        let securityEvents = QueueSecurityEvents(transaction, environment)
        for entry in events.entries {
            let consequence = entry.consequence
            if let audit = consequence.audit {
                try AuditRepository(transaction).append(
                    audit.event, subject: audit.subject, actor: entry.actor, detail: audit.detail,
                    reason: entry.reason, id: audit.id ?? environment.newUUID())
            }
            try securityEvents(consequence.securityEvents, &aftermath)
            aftermath.add(consequence)
            for notice in consequence.notices where seen.insert(notice).inserted { notices.append(notice) }
            announced += consequence.announced
        }
        // The notice of a banned user includes the user's own notice.
        notices = notices.filter { if case .user(let id) = $0 { !seen.contains(.bannedUser(id)) } else { true } }
        for notice in notices + announced { try ChangeLog(transaction).append(notice) }
        aftermath.changes += notices
        return aftermath
    }
}

/// Writes security events into the outbox, for the webhooks and streams of the users' providers.
private final class QueueSecurityEvents {
    private let transaction: any Transaction
    private let environment: Environment
    /// An id that all events of the transaction share.
    private let cause: String
    private var receivers: [ProviderID: (hasWebhook: Bool, streams: [EventStreamRepository.Receiver])] = [:]

    init(_ transaction: any Transaction, _ environment: Environment) {
        (self.transaction, self.environment) = (transaction, environment)
        cause = environment.newUUID().uuidString.lowercased()
    }

    func callAsFunction(_ events: [Consequence.SecurityEvent], _ aftermath: inout Commit.Aftermath) throws {
        let (webhooks, streams) = (ProviderWebhookRepository(transaction), EventStreamRepository(transaction))
        let subjects = EventSubjectRepository(transaction)
        for one in events {
            let found =
                try receivers[one.provider]
                ?? (webhooks.find(one.provider) != nil, streams.receivers(of: one.provider))
            receivers[one.provider] = found
            if found.hasWebhook, one.event.isForWebhooks {
                try webhooks.enqueue(environment.newIdentifier(), one.event, of: one.user, to: one.provider)
                aftermath.wakesOutbox = true
            }
            for stream in found.streams where stream.wants(one.event.type) {
                guard try !stream.leavesSubjectsOut || !subjects.isExcluded(one.user, from: stream.id) else { continue }
                try streams.enqueue(
                    environment.newIdentifier(), .happened(one.event), of: one.user, in: stream, cause: cause)
                if stream.isPolled { aftermath.streams.insert(stream.id) } else { aftermath.wakesOutbox = true }
            }
        }
    }
}

/// The events of one transaction, in order. A transaction that runs again starts without events.
struct RecordedEvents {
    struct Entry {
        let consequence: Consequence
        let actor: String
        let reason: AuditReason?
    }

    private(set) var entries: [Entry] = []

    /// Records an event.
    ///
    /// - Parameters:
    ///   - actor: the actor's name in the audit log; ignored if the event has no entry.
    ///   - reason: the reason, if the event does not imply it.
    mutating func record(_ event: DomainEvent, by actor: String = "service", because reason: AuditReason? = nil) {
        entries.append(Entry(consequence: Consequence(of: event), actor: actor, reason: reason))
    }

    /// Records an act that is only audited.
    mutating func record(_ act: AuditedAct, by actor: String, because reason: AuditReason? = nil) {
        entries.append(Entry(consequence: Consequence(act), actor: actor, reason: reason))
    }
}
