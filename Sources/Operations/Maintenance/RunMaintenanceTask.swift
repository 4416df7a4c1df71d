import Database
import Domain
import Foundation
import Repositories

/// Does a task of maintenance for some seconds, if it is due and no other process has it.
struct RunMaintenanceTask: Sendable {
    private let context: Service

    init(_ context: Service) {
        self.context = context
    }

    /// What a turn came to.
    enum Turn {
        case finished
        /// There is more to do.
        case unfinished
        /// It is not due, or another process has it.
        case elsewhere
        /// The task failed; others are not to wait for it.
        case failed(any Error)
    }

    /// How long a process that has died holds a task, in seconds. Each batch begins that time anew.
    static let lease: TimeInterval = 60
    /// How long others wait for their turn while a task has much to do.
    static let turn: Duration = .seconds(3)
    /// A batch that took longer is followed by a smaller one: on an engine with one writer, all others wait for it.
    static let longBatch: Duration = .milliseconds(40)
    static let largestBatch = 1000
    /// The pause behind a batch, as a multiple of what it took with its commit: all others share the disk with it.
    static let rest = 4
    private static let smallestBatch = 125
    /// How long a task that failed is left alone, in seconds.
    static let pause: TimeInterval = 60

    /// Takes a turn.
    func callAsFunction(_ task: MaintenanceTask) async -> Turn {
        let (name, holder) = (task.name, context.environment.newUUID().uuidString)
        do {
            let lease = try await context.store.maintained {
                try MaintenanceTaskRepository($0).lease(name, to: holder, for: Self.lease)
            }
            guard let lease else { return .elsewhere }
            return try await carryOut(task, as: holder, after: lease.reached)
        } catch {
            // A store that is away keeps the lease, which ends by itself.
            _ = try? await context.store.maintained {
                try MaintenanceTaskRepository($0).fail(name, as: holder, pause: Self.pause)
            }
            return .failed(error)
        }
    }

    private struct Step: Sendable {
        let outcome: MaintenanceBatch.Outcome
        let start: ContinuousClock.Instant
        /// Without the commit.
        let duration: Duration
    }

    private func carryOut(_ task: MaintenanceTask, as holder: String, after reached: String?) async throws -> Turn {
        let name = task.name
        let end = ContinuousClock.now + Self.turn
        var (reached, limit) = (reached, Self.largestBatch / 4)
        let goesOn = try await task.prepare()
        while !Task.isCancelled, ContinuousClock.now < end {
            let part = MaintenanceBatch(after: reached, limit: limit)
            guard let step = try await step(task, part, as: holder) else { return .elsewhere }
            let whole = ContinuousClock.now - step.start
            guard !step.outcome.isFinished else {
                try await context.store.maintained {
                    try MaintenanceTaskRepository($0).finish(
                        name, as: holder, dueAgainAfter: goesOn ? 0 : task.interval)
                }
                return .finished
            }
            reached = step.outcome.reached
            if step.duration > Self.longBatch { limit = max(limit / 2, Self.smallestBatch) }
            if step.duration < Self.longBatch / 3 { limit = min(limit * 2, Self.largestBatch) }
            // Whoever waited for this batch goes before the next one.
            try? await Task.sleep(for: max(whole * Self.rest, .milliseconds(2)))
        }
        try await context.store.maintained { try MaintenanceTaskRepository($0).release(name, as: holder) }
        return .unfinished
    }

    /// Carries a batch out; `nil` if the lease is lost, with nothing done.
    private func step(_ task: MaintenanceTask, _ part: MaintenanceBatch, as holder: String) async throws -> Step? {
        do {
            return try await context.maintain { transaction, events in
                let start = ContinuousClock.now
                let tasks = MaintenanceTaskRepository(transaction)
                guard try tasks.keep(task.name, as: holder, for: Self.lease) else { throw LeaseLost() }
                let outcome = try task.batch(transaction, part, &events)
                try tasks.record(outcome, of: task.name)
                return Step(outcome: outcome, start: start, duration: ContinuousClock.now - start)
            }
        } catch is LeaseLost {
            return nil
        }
    }

    private struct LeaseLost: Error {}
}
