import Database
import Delivery
import Foundation
import Identity
import Records
import Synchronization

/// Tells the outbox's loop that there is something to send.
public final class OutboxSignal: Sendable {
    let rings: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    /// A signal for one loop; rings that come while the loop works are one.
    public init() {
        (rings, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// There is something to send, perhaps.
    public func ring() {
        continuation.yield()
    }
}

/// Sends what stands in the outbox: several messages at once, each leased, tried and settled.
public struct DeliverOutbox: Sendable {
    /// How many messages are on their way at once. A process that dies may have sent so many without saying so, and
    /// they are sent again: of 1,000 fewer than 1 %.
    public static let inFlight = 8
    /// How long a message belongs to who leased it. Longer than any sender takes.
    static let lease: TimeInterval = 30
    /// The loop looks at least so often, whoever wrote.
    static let interval: TimeInterval = 30

    private let store: any Database
    private let compose: ComposePhoneText
    private let surroundings: Surroundings
    private let send: @Sendable (Message) async -> DeliveryOutcome
    private let observe: @Sendable (OutboxMessage) -> Void

    /// Sends what stands in a store.
    ///
    /// - Parameters:
    ///   - send: makes one attempt; what became of it is its answer.
    ///   - observe: told of each message after its try, for the metrics.
    public init(
        store: any Database, compose: ComposePhoneText, surroundings: Surroundings,
        send: @escaping @Sendable (Message) async -> DeliveryOutcome,
        observe: @escaping @Sendable (OutboxMessage) -> Void = { _ in }
    ) {
        self.store = store
        self.compose = compose
        self.surroundings = surroundings
        self.send = send
        self.observe = observe
    }

    /// A message that was leased, with what to send or the reason why there is nothing.
    private struct Prepared: Sendable {
        let message: OutboxMessage
        let content: ComposePhoneText.Content
    }

    /// Sends everything that is due.
    ///
    /// - Returns: when the next message is due; `nil` where none waits.
    /// - Throws: ``Refusal`` `unavailable` where the store is away; what was leased is sent when it is back.
    public func callAsFunction() async throws -> Date? {
        let lease = surroundings.newUUID().uuidString
        let first = try await take(Self.inFlight, lease: lease)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for prepared in first {
                group.addTask {
                    var next: Prepared? = prepared
                    while let present = next {
                        let result = await attempt(present)
                        next = try await take(1, lease: lease, settling: (present.message, result)).first
                    }
                }
            }
            try await group.waitForAll()
        }
        return try await store.look { try OutboxRecords($0).nextDue() }
    }

    /// Settles a message, leases others and puts them together, in one transaction.
    private func take(
        _ count: Int, lease: String, settling settled: (message: OutboxMessage, result: OutboxMessage.Result)? = nil
    ) async throws -> [Prepared] {
        let auditID = surroundings.newUUID()
        let (prepared, after) = try await store.decide { transaction -> ([Prepared], OutboxMessage?) in
            let records = OutboxRecords(transaction)
            var after: OutboxMessage?
            if let settled {
                let message = settled.message.after(settled.result, now: transaction.now, rule: .outbox)
                if try records.settle(message, lease: lease) { after = message }
                if after?.state == .dead {
                    try AuditRecords(transaction).append(
                        .outboxMessageDied, subject: "message \(message.id)", actor: "service",
                        detail: message.reason, id: auditID)
                }
            }
            let leased = try records.lease(lease, limit: count, for: Self.lease)
            let prepared = try leased.map { message in
                Prepared(message: message, content: try compose(message, in: transaction))
            }
            return (prepared, after)
        }
        if let after { observe(after) }
        return prepared
    }

    private func attempt(_ prepared: Prepared) async -> OutboxMessage.Result {
        // A process that died on each of the tries may have sent the last of them: to try again is no better.
        guard prepared.message.tries <= RetryRule.outbox.tries else { return .refused("its tries were cut short") }
        switch prepared.content {
        case .overtaken(let reason): return .overtaken(reason)
        case .message(let message):
            switch await send(message) {
            case .sent: return .sent
            case .refused(let reason): return .refused(reason)
            case .unavailable(let reason): return .unavailable(reason)
            case .endpointGone: return .refused("the endpoint is gone")
            }
        }
    }

    /// Sends for as long as the task lives: at once when the signal rings, when a message is due again, and every 30
    /// seconds whatever happens.
    ///
    /// - Parameter onError: told when a round failed; the next one tries again.
    public func run(_ signal: OutboxSignal, onError: @escaping @Sendable (any Error) -> Void) async {
        signal.ring()
        await withDiscardingTaskGroup { group in
            let alarm = Mutex<Date?>(nil)
            for await _ in signal.rings {
                let now = surroundings.now()
                var next = now.addingTimeInterval(Self.interval)
                do {
                    if let due = try await self() { next = min(next, max(due, now.addingTimeInterval(0.05))) }
                } catch {
                    onError(error)
                    next = now.addingTimeInterval(RetryRule.outbox.firstWait)
                }
                let isEarlier = alarm.withLock { alarm in
                    if let set = alarm, set > now, set <= next { return false }
                    alarm = next
                    return true
                }
                guard isEarlier else { continue }
                let wait = next.timeIntervalSince(surroundings.now())
                group.addTask {
                    guard (try? await Task.sleep(for: .seconds(max(wait, 0)))) != nil else { return }
                    signal.ring()
                }
            }
            group.cancelAll()
        }
    }
}
