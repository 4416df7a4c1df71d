import Database
import Delivery
import Domain
import Foundation
import Repositories

/// Sends the messages in the outbox: several at once, each leased, tried and settled.
///
/// Each kind has its own slots, so a slow carrier of one kind delays no other. A process that dies may have sent a
/// message in each slot without recording it, and these are sent again. With 8 slots a kind, that is less than 1 % of
/// 1,000 messages.
package struct DeliverOutbox: Sendable {
    /// The longest time between two rounds, in seconds.
    static let interval: TimeInterval = 30

    private let context: Service
    private let writeText: @Sendable (PhoneTextParts) -> String?
    private let pushes: PushAuthorizations
    private let messages: PushMessages
    private let calls: PushCalls
    private let notifications: PushNotifications
    private let events: NotifyProvider
    private let leaseTime: TimeInterval
    private let send: @Sendable (Message, OutboxMessageID) async -> DeliveryOutcome
    private let observe: @Sendable (OutboxMessage) -> Void
    private let onRest: @Sendable (ProviderID) -> Void
}

package extension DeliverOutbox {
    /// Sends the messages of a store.
    ///
    /// - Parameters:
    ///   - writeText: renders a text with a code; `nil` if the policy's text cannot contain the code.
    ///   - leaseTime: how long a message belongs to its lessee, in seconds: longer than an attempt may take.
    ///   - send: makes one attempt at a message and returns its outcome; the id is the same in all attempts.
    ///   - observe: called with each message after its try, for the metrics.
    ///   - onRest: called when a provider's receiver is paused because it does not answer.
    init(
        _ context: Service, writeText: @escaping @Sendable (PhoneTextParts) -> String?, events: NotifyProvider,
        leaseTime: TimeInterval = 30,
        send: @escaping @Sendable (Message, OutboxMessageID) async -> DeliveryOutcome,
        observe: @escaping @Sendable (OutboxMessage) -> Void = { _ in },
        onRest: @escaping @Sendable (ProviderID) -> Void = { _ in }
    ) {
        self.context = context
        self.writeText = writeText
        self.events = events
        self.leaseTime = leaseTime
        self.send = send
        self.observe = observe
        self.onRest = onRest
        messages = PushMessages(context)
        calls = PushCalls(context)
        notifications = PushNotifications(context)
        pushes = context.authorizationPushes
    }

    /// A leased message, with its content or the reason why there is none.
    private struct Prepared: Sendable {
        let message: OutboxMessage
        let content: OutboxContent
        let lease: String
        /// The deadline for recording the result: later another process may have the message.
        let end: ContinuousClock.Instant
    }

    /// Sends everything that is due.
    ///
    /// - Returns: when the next message is due; `nil` if none waits.
    /// - Throws: `Refusal` `unavailable` if the store is unavailable; leased messages are sent when it is back.
    func callAsFunction() async throws -> Date? {
        let failure = try await withThrowingTaskGroup(of: (any Error)?.self) { group -> (any Error)? in
            let places = OutboxPlaces()
            for prepared in try await take(OutboxPlaces.all, of: places) {
                group.addTask {
                    do {
                        try await work(prepared, places)
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
        return try await nextDue(OutboxKind.allCases, [:])
    }

    /// Sends until the task is cancelled: at once after a signal, when a message is due again, and every 30 seconds
    /// in any case. Attempts under way at the cancellation are finished.
    ///
    /// - Parameter onError: called with the error of a failed round; the next round retries.
    func run(_ signal: LoopSignal, onError: @escaping @Sendable (any Error) -> Void) async {
        let places = OutboxPlaces()
        var alarm = Date.distantPast
        signal.ring()
        await withDiscardingTaskGroup { group in
            for await _ in signal.rings {
                let started = context.environment.now()
                var next = started.addingTimeInterval(Self.interval)
                do {
                    for prepared in try await take(places.free, of: places) {
                        places.take(prepared.message.kind)
                        group.addTask {
                            do {
                                try await work(prepared, places)
                            } catch {
                                onError(error)
                                try? await Task.sleep(for: .seconds(RetryRule.outbox.firstWait))
                            }
                            places.give(prepared.message.kind)
                            signal.ring()
                        }
                    }
                    // A kind without a free slot is checked when one of its slots becomes free.
                    if let due = try await nextDue(Array(places.free.keys), places.turns) {
                        next = min(next, max(due, started.addingTimeInterval(0.1)))
                    }
                } catch {
                    onError(error)
                    next = started.addingTimeInterval(RetryRule.outbox.firstWait)
                }
                // One alarm is enough, if it is early enough.
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

    /// Sends a message, then others of its kind as long as there are any.
    private func work(_ first: Prepared, _ places: OutboxPlaces) async throws {
        var next: Prepared? = first
        while let present = next {
            let result = await attempt(present)
            next = try await settle(present, result, places)
        }
    }

    /// Records the result of a try, with retries while its lease lasts. An unrecorded message would be sent again.
    ///
    /// - Returns: the next message.
    private func settle(
        _ prepared: Prepared, _ result: OutboxMessage.Result, _ places: OutboxPlaces
    ) async throws -> Prepared? {
        while true {
            do {
                let next = Task.isCancelled ? [:] : [prepared.message.kind: 1]
                return try await take(next, of: places, settling: (prepared, result)).first
            } catch let refusal as Refusal where refusal.code == .unavailable {
                guard ContinuousClock.now < prepared.end, (try? await Task.sleep(for: .seconds(1))) != nil else {
                    throw refusal
                }
            }
        }
    }

    /// Settles a message, then leases and prepares others, in one transaction. It finds rows by lease or id, and
    /// changes them by a condition on their current state. Otherwise concurrent senders would roll each other back:
    /// they made 306 claims a second, and a single sender made 1,152.
    private func take(
        _ slots: [OutboxKind: Int], of places: OutboxPlaces,
        settling settled: (prepared: Prepared, result: OutboxMessage.Result)? = nil
    ) async throws -> [Prepared] {
        let known = places.know(slots.keys, isRound: settled == nil)
        let lease = context.environment.newUUID().uuidString
        let end = ContinuousClock.now + .seconds(leaseTime - 1)
        let (prepared, after, resting, turns) = try await context.maintain {
            transaction, recorded -> ([Prepared], OutboxMessage?, ProviderID?, [OutboxKind: OutboxTurns]) in
            let records = OutboxRepository(transaction)
            var after: OutboxMessage?
            var resting: ProviderID?
            if let (prepared, result) = settled {
                let message = prepared.message.after(
                    result, now: transaction.now, rule: prepared.message.kind.retryRule)
                if try records.settle(message, lease: prepared.lease) {
                    after = message
                    var isReplaced = false
                    if result == .endpointGone, let device = message.push?.device {
                        isReplaced =
                            try !PushDevices(keys: context.keys.personal)
                            .drop(prepared.content, of: message.userID, on: device, in: transaction)
                    }
                    if message.kind == .authorization {
                        try pushes.settle(message, isReplaced: isReplaced, in: transaction, &recorded)
                    }
                    resting = try events.settle(prepared.content, result, in: transaction, &recorded)
                }
                if after?.state == .dead {
                    recorded.record(.messageDied(message.id, detail: message.reason), by: "service")
                }
            }
            guard !slots.isEmpty else { return ([], after, resting, [:]) }
            var turns = known.turns
            let prepared = try OutboxClaims(transaction).lease(
                lease, slots, for: leaseTime, looking: known.looking, &turns
            ).map { message in
                Prepared(message: message, content: try content(of: message, in: transaction), lease: lease, end: end)
            }
            return (prepared, after, resting, turns)
        }
        places.learn(turns)
        if let after { observe(after) }
        if let resting { onRest(resting) }
        return prepared
    }

    /// The content of a message. A message that cannot be opened, or whose row is damaged, does not delay others.
    private func content(of message: OutboxMessage, in transaction: any Transaction) throws -> OutboxContent {
        do {
            return try readableContent(of: message, in: transaction)
        } catch is SealingFailure {
            return .unreadable("it cannot be opened")
        } catch is DamagedRow {
            return .unreadable("a row of it is damaged")
        }
    }

    private func readableContent(of message: OutboxMessage, in transaction: any Transaction) throws -> OutboxContent {
        switch message.kind {
        case .phoneCode: try context.composePhoneText(message, in: transaction, write: writeText)
        case .authorization: try pushes.content(of: message, in: transaction)
        case .message: try messages.content(of: message, in: transaction)
        case .call: try calls.content(of: message, in: transaction)
        case .providerEvent: try events.content(of: message, in: transaction)
        case .polledEvent: .unreadable("the event waits to be polled")
        case .notification: .unreadable("the notification waits for the user's devices")
        case .notificationPush: try notifications.content(of: message, in: transaction)
        }
    }

    private func attempt(_ prepared: Prepared) async -> OutboxMessage.Result {
        // If a process died in each of the tries, the last may have sent it, so another try would not help.
        guard prepared.message.tries <= prepared.message.kind.retryRule.tries else {
            return .refused("its tries were cut short")
        }
        // A separate task, so that the loop's cancellation does not interrupt an attempt.
        let outcome: DeliveryOutcome
        switch prepared.content {
        case .overtaken(let reason): return .overtaken(reason)
        case .unreadable(let reason): return .unavailable(reason)
        case .message(let message): outcome = await Task { await send(message, prepared.message.id) }.value
        case .event(let delivery): outcome = await Task { await events.attempt(delivery) }.value
        }
        return switch outcome {
        case .sent: .sent
        case .refused(let reason): .refused(reason)
        case .unavailable(let reason, let retryAfter): .unavailable(reason, retryAfter: retryAfter)
        case .endpointGone: .endpointGone
        case .receiverGone: .receiverGone
        }
    }

    private func nextDue(_ kinds: [OutboxKind], _ turns: [OutboxKind: OutboxTurns]) async throws -> Date? {
        try await context.read { try OutboxClaims($0).nextDue(kinds, turns) }
    }
}
