import Database
import Domain
import Foundation
import Repositories

/// Runs a maintenance task for some seconds, if it is due and no other process has leased it.
struct RunMaintenanceTask: Sendable {
    private let context: Service

    init(_ context: Service) {
        self.context = context
    }

    /// The result of a turn.
    enum Turn {
        case finished
        /// More work is left for this task.
        case unfinished
        /// The task is not due, or another process has leased it.
        case elsewhere
        /// The task failed. Other tasks must not wait for it.
        case failed(any Error)
    }

    /// The length of a lease in seconds, after which the task of a dead process is free. Each batch renews it.
    static let lease: TimeInterval = 60
    /// The length of a turn, while other tasks wait.
    static let turn: Duration = .seconds(3)
    /// After a batch that took longer, the next one is smaller, because all writers wait for it on an engine with one
    /// writer.
    static let longBatch: Duration = .milliseconds(40)
    static let largestBatch = 1000
    /// The pause after a batch, as a multiple of its duration with the commit, because all writers share the disk.
    static let rest = 4
    private static let smallestBatch = 125
    /// How long a failed task is not retried, in seconds.
    static let pause: TimeInterval = 60

    /// Runs one turn of a task.
    func callAsFunction(_ task: MaintenanceTask) async -> Turn {
        let (name, holder) = (task.name, context.environment.newUUID().uuidString)
        do {
            let lease = try await context.store.maintained {
                try MaintenanceTaskRepository($0).lease(name, to: holder, for: Self.lease)
            }
            guard let lease else { return .elsewhere }
            return try await carryOut(task, as: holder, after: lease.reached)
        } catch {
            // If the store is unavailable, the lease stays and expires by itself.
            _ = try? await context.store.maintained {
                try MaintenanceTaskRepository($0).fail(name, as: holder, pause: Self.pause)
            }
            return .failed(error)
        }
    }

    private struct Step: Sendable {
        let outcome: MaintenanceBatch.Outcome
        let start: ContinuousClock.Instant
        /// The duration without the commit.
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
            // Writers that waited for this batch go before the next one.
            try? await Task.sleep(for: max(whole * Self.rest, .milliseconds(2)))
        }
        try await context.store.maintained { try MaintenanceTaskRepository($0).release(name, as: holder) }
        return .unfinished
    }

    /// Runs a batch; `nil` if the lease is lost and nothing was done.
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
