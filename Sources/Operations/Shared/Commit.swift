import Database
import Domain
import Encoding
import Repositories

/// Changes a store, and sees that everything follows which has to.
struct Commit: Sendable {
    let store: any Database
    let lane: Lane
    let environment: Environment
    /// This process as a node; `nil` for a command, which remembers nothing.
    let node: ServingNode?

    /// What is to be done once a transaction is committed.
    struct Aftermath: Sendable {
        var changes: [ChangeLog.Change] = []
        var opened: [Session] = []
        var wakesOutbox = false
        var leavesRows = false
    }

    /// Runs a body in a transaction with all that follows from it.
    ///
    /// - Parameter body: records what it changes. It may be begun again, with no events.
    /// - Throws: `Refusal` `unavailable`; what the body throws.
    func callAsFunction<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction, inout RecordedEvents) throws -> T
    ) async throws -> T {
        try await commit(body) { try await store.transaction(on: lane, $0) }
    }

    /// The same for a body that maintains rows: see `Database/maintain(_:)`.
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
            // It is committed all the same.
            node?.doubt()
            throw error
        }
        return outcome.value
    }

    /// The first half: audit entries, change notices and security events, in the transaction of the change.
    @discardableResult
    func write(_ events: RecordedEvents, in transaction: any Transaction) throws -> Aftermath {
        guard !events.entries.isEmpty else { return Aftermath() }
        var aftermath = Aftermath()
        var notices: [ChangeLog.Change] = []
        var seen: Set<ChangeLog.Change> = []
        for entry in events.entries {
            let consequence = Consequence(of: entry.event)
            if let audit = consequence.audit {
                try AuditRepository(transaction).append(
                    audit.event, subject: audit.subject, actor: entry.actor, detail: audit.detail,
                    reason: entry.reason, id: audit.id ?? environment.newUUID())
            }
            if try enqueue(consequence.securityEvents, in: transaction) { aftermath.wakesOutbox = true }
            for notice in consequence.notices where seen.insert(notice).inserted { notices.append(notice) }
            aftermath.changes += consequence.here
            if let session = consequence.opened { aftermath.opened.append(session) }
            if consequence.wakesOutbox { aftermath.wakesOutbox = true }
            if consequence.leavesRows { aftermath.leavesRows = true }
        }
        // A banned user's notice says everything that the user's own would.
        notices = notices.filter { if case .user(let id) = $0 { !seen.contains(.bannedUser(id)) } else { true } }
        for notice in notices { try ChangeLog(transaction).append(notice) }
        aftermath.changes += notices
        return aftermath
    }

    /// Writes security events for the providers that have a receiver; whether there is any.
    private func enqueue(_ events: [Consequence.SecurityEvent], in transaction: any Transaction) throws -> Bool {
        let webhooks = ProviderWebhookRepository(transaction)
        var receives: [ProviderID: Bool] = [:]
        for event in events {
            let isReceiver = try receives[event.provider] ?? (webhooks.find(event.provider) != nil)
            receives[event.provider] = isReceiver
            if isReceiver { try webhooks.enqueue(event.event, of: event.user, to: event.provider) }
        }
        return receives.values.contains(true)
    }
}
