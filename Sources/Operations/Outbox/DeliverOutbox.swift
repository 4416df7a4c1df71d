import Database
import Delivery
import Domain
import Foundation
import Repositories
import Synchronization

/// Sends what stands in the outbox: several messages at once, each leased, tried and settled.
///
/// Each kind has places of its own, so that what hangs over one holds up no other. A process that dies may have sent as many
/// as there are places without saying so, and they are sent again: of 1,000 fewer than 1 %.
package struct DeliverOutbox: Sendable {
    /// The loop looks at least so often, whoever wrote.
    static let interval: TimeInterval = 30

    private let context: ServiceContext
    private let compose: ComposePhoneText
    private let pushes: PushAuthorizations
    private let events: NotifyProvider
    private let leaseTime: TimeInterval
    private let send: @Sendable (Message, OutboxMessageID) async -> DeliveryOutcome
    private let observe: @Sendable (OutboxMessage) -> Void
    private let onRest: @Sendable (ProviderID) -> Void

    /// Sends what stands in a store.
    ///
    /// - Parameters:
    ///   - leaseTime: how long a message belongs to who leased it, in seconds: longer than an attempt may take.
    ///   - send: makes one attempt at a message, whose id is the same at all; what became of it is its answer.
    ///   - observe: called with each message after its try, for the metrics.
    ///   - onRest: called when a provider's receiver is left alone for a while, since it does not answer.
    package init(
        _ context: ServiceContext, compose: ComposePhoneText, events: NotifyProvider, leaseTime: TimeInterval = 30,
        send: @escaping @Sendable (Message, OutboxMessageID) async -> DeliveryOutcome,
        observe: @escaping @Sendable (OutboxMessage) -> Void = { _ in },
        onRest: @escaping @Sendable (ProviderID) -> Void = { _ in }
    ) {
        self.context = context
        self.compose = compose
        self.events = events
        self.leaseTime = leaseTime
        self.send = send
        self.observe = observe
        self.onRest = onRest
        pushes = PushAuthorizations(
            keys: context.keys.personal, policy: context.policy, environment: context.environment)
    }

    /// A message that was leased, with what to send or the reason why there is nothing.
    private struct Prepared: Sendable {
        let message: OutboxMessage
        let content: OutboxContent
        let lease: String
        /// Until when what became of it is worth writing down: after that another process may have it.
        let end: ContinuousClock.Instant
    }

    /// Sends everything that is due.
    ///
    /// - Returns: when the next message is due; `nil` where none waits.
    /// - Throws: `Refusal` `unavailable` where the store is away; what was leased is sent when it is back.
    package func callAsFunction() async throws -> Date? {
        let failure = try await withThrowingTaskGroup(of: (any Error)?.self) { group -> (any Error)? in
            for prepared in try await take(Places.all) {
                group.addTask {
                    do {
                        try await work(prepared)
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            var failure: (any Error)?
            while let ended = try await group.next() { failure = failure ?? ended }
            return failure
        }
        if let failure { throw failure }
        return try await nextDue(OutboxKind.allCases)
    }

    /// Sends for as long as the task lives: at once when the signal rings, when a message is due again, and every 30
    /// seconds whatever happens. What is on its way at the end is finished.
    ///
    /// - Parameter onError: told when a round failed; the next one tries again.
    package func run(_ signal: OutboxSignal, onError: @escaping @Sendable (any Error) -> Void) async {
        let places = Places()
        var alarm = Date.distantPast
        signal.ring()
        await withDiscardingTaskGroup { group in
            for await _ in signal.rings {
                let started = context.environment.now()
                var next = started.addingTimeInterval(Self.interval)
                do {
                    for prepared in try await take(places.free) {
                        places.take(prepared.message.kind)
                        group.addTask {
                            do {
                                try await work(prepared)
                            } catch {
                                onError(error)
                                try? await Task.sleep(for: .seconds(RetryRule.outbox.firstWait))
                            }
                            places.give(prepared.message.kind)
                            signal.ring()
                        }
                    }
                    // A kind without a free place is looked at when one of its own comes back.
                    if let due = try await nextDue(Array(places.free.keys)) {
                        next = min(next, max(due, started.addingTimeInterval(0.1)))
                    }
                } catch {
                    onError(error)
                    next = started.addingTimeInterval(RetryRule.outbox.firstWait)
                }
                // One alarm is enough, as long as it is early enough.
                guard alarm <= started || next < alarm else { continue }
                alarm = next
                let wait = max(0, next.timeIntervalSince(context.environment.now()))
                group.addTask {
                    guard (try? await Task.sleep(for: .seconds(wait))) != nil else { return }
                    signal.ring()
                }
            }
            group.cancelAll()
        }
    }

    /// Sends a message, and others of its kind after it as long as there are any.
    private func work(_ first: Prepared) async throws {
        var next: Prepared? = first
        while let present = next {
            let result = await attempt(present)
            next = try await settle(present, result)
        }
    }

    /// Writes down what became of a message, again and again while its lease runs: of what stays unsaid others believe
    /// that it was not sent.
    ///
    /// - Returns: the next message.
    private func settle(_ prepared: Prepared, _ result: OutboxMessage.Result) async throws -> Prepared? {
        while true {
            do {
                let next = Task.isCancelled ? [:] : [prepared.message.kind: 1]
                return try await take(next, settling: (prepared, result)).first
            } catch let refusal as Refusal where refusal.code == .unavailable {
                guard ContinuousClock.now < prepared.end, (try? await Task.sleep(for: .seconds(1))) != nil else {
                    throw refusal
                }
            }
        }
    }

    /// Settles a message, leases others and puts them together, in one transaction.
    private func take(
        _ slots: [OutboxKind: Int], settling settled: (prepared: Prepared, result: OutboxMessage.Result)? = nil
    ) async throws -> [Prepared] {
        let lease = context.environment.newUUID().uuidString
        let end = ContinuousClock.now + .seconds(leaseTime - 1)
        let (prepared, after, resting) = try await context.commit {
            transaction, recorded -> ([Prepared], OutboxMessage?, ProviderID?) in
            let records = OutboxRepository(transaction)
            var after: OutboxMessage?
            var resting: ProviderID?
            if let (prepared, result) = settled {
                let message = prepared.message.after(
                    result, now: transaction.now, rule: prepared.message.kind.retryRule)
                if try records.settle(message, lease: prepared.lease) {
                    after = message
                    if message.kind == .authorization {
                        try pushes.settle(message, prepared.content, result, in: transaction, &recorded)
                    }
                    resting = try events.settle(message, prepared.content, result, in: transaction)
                }
                if after?.state == .dead {
                    recorded.record(.messageDied(message.id, detail: message.reason), by: "service")
                }
            }
            guard !slots.isEmpty else { return ([], after, resting) }
            let prepared = try records.lease(lease, slots, for: leaseTime).map { message in
                Prepared(message: message, content: try content(of: message, in: transaction), lease: lease, end: end)
            }
            return (prepared, after, resting)
        }
        if let after { observe(after) }
        if let resting { onRest(resting) }
        return prepared
    }

    private func content(of message: OutboxMessage, in transaction: any Transaction) throws -> OutboxContent {
        switch message.kind {
        case .phoneCode: try compose(message, in: transaction)
        case .authorization: try pushes.content(of: message, in: transaction)
        case .providerEvent: try events.content(of: message, in: transaction)
        }
    }

    private func attempt(_ prepared: Prepared) async -> OutboxMessage.Result {
        // A process that died on each of the tries may have sent the last of them: to try again is no better.
        guard prepared.message.tries <= prepared.message.kind.retryRule.tries else {
            return .refused("its tries were cut short")
        }
        // A task of its own: the end of the loop does not cut off what is half said.
        let outcome: DeliveryOutcome
        switch prepared.content {
        case .overtaken(let reason): return .overtaken(reason)
        case .unreadable(let reason): return .unavailable(reason)
        case .message(let message): outcome = await Task { await send(message, prepared.message.id) }.value
        case .event(let token, let url): outcome = await Task { await events.attempt(token, url) }.value
        }
        return switch outcome {
        case .sent: .sent
        case .refused(let reason): .refused(reason)
        case .unavailable(let reason): .unavailable(reason)
        case .endpointGone: .endpointGone
        }
    }

    private func nextDue(_ kinds: [OutboxKind]) async throws -> Date? {
        try await context.store.snapshot { try OutboxRepository($0).nextDue(kinds) }
    }
}

/// The places of a loop, by kind.
private final class Places: Sendable {
    static let all = Dictionary(uniqueKeysWithValues: OutboxKind.allCases.map { ($0, $0.slots) })

    private let taken = Mutex<[OutboxKind: Int]>([:])

    /// The kinds with a free place, and how many they have.
    var free: [OutboxKind: Int] {
        taken.withLock { taken in
            Self.all.map { ($0.key, $0.value - taken[$0.key, default: 0]) }.filter { $0.1 > 0 }
                .reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
    }

    func take(_ kind: OutboxKind) { taken.withLock { $0[kind, default: 0] += 1 } }

    func give(_ kind: OutboxKind) { taken.withLock { $0[kind, default: 0] -= 1 } }
}
