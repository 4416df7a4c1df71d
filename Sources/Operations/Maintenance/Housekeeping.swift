import Database
import Domain
import Foundation
import Repositories

/// Does what is due of the tasks of maintenance, each by itself: one that fails, or has much to do, keeps no other
/// waiting. Of all processes on a store one does a task at a time.
package struct Housekeeping: Sendable {
    private let context: Service
    private let tasks: [MaintenanceTask]
    private let run: RunMaintenanceTask
    private let longestRound: Duration

    /// - Parameters:
    ///   - more: tasks beside those of ``MaintenanceTask/all(_:_:)``.
    ///   - longestRound: after this time no further pass begins, in which each due task has a turn of some seconds. What else
    ///     a process does each minute, and its report of overdue tasks, does not wait for the end of a long task.
    package init(
        _ context: Service, also more: [MaintenanceTask] = [], longestRound: Duration = .seconds(30)
    ) {
        self.context = context
        self.longestRound = longestRound
        tasks = MaintenanceTask.all(context.policy, context.environment) + more
        run = RunMaintenanceTask(context)
    }

    /// What a round came to.
    package struct Report: Sendable {
        /// The tasks with nothing left to do until they are due again.
        package var finished: [String] = []
        /// The tasks that this process failed to do, and why.
        package var failed: [(task: String, cause: any Error)] = []
        /// The tasks that should have been done by somebody.
        package var overdue: [String] = []
        /// Whether the round ended at its time limit, with tasks that are due.
        package var isCutShort = false
    }

    /// Does what is due, and what is each process's own: lets go of what it remembers and nobody has used for a while, and
    /// clears the store's logs.
    ///
    /// - Throws: `Refusal` `unavailable` if the store cannot say what is due.
    @discardableResult
    package func callAsFunction() async throws -> Report {
        let idle = context.environment.now().addingTimeInterval(-context.policy[\.sessions].idleLifetime)
        context.caches.sessions.dropIdle(since: idle)
        context.caches.certificates.dropIdle(since: idle)
        let report = try await runDue()
        let positions = try await context.read { try ClusterMemberRepository($0).positions() }
        try await context.store.reached { try await context.store.purgeChanges(below: positions) }
        // What was erased since the last round is to be gone from the log as well, data keys above all.
        try await context.store.clearLog()
        return report
    }

    /// Does tasks until none is due any more, its time limit has passed, or the calling task is cancelled.
    ///
    /// - Throws: `Refusal` `unavailable` if the store cannot say what is due.
    package func runDue() async throws -> Report {
        var report = Report()
        let clock = ContinuousClock()
        let end = clock.now + longestRound
        var waiting = try await due(&report)
        while !waiting.isEmpty, !Task.isCancelled {
            for task in waiting where !Task.isCancelled {
                switch await run(task) {
                case .finished: report.finished.append(task.name)
                case .failed(let cause): report.failed.append((task.name, cause))
                case .unfinished, .elsewhere: break
                }
            }
            waiting = try await due(&report)
            report.isCutShort = !waiting.isEmpty && clock.now >= end
            if report.isCutShort { break }
        }
        return report
    }

    /// The tasks that nobody has, in their order, but for those that have failed in this round.
    private func due(_ report: inout Report) async throws -> [MaintenanceTask] {
        let (entries, now) = try await context.read {
            (try MaintenanceTaskRepository($0).list(), $0.now)
        }
        report.overdue = entries.filter { $0.isOverdue(at: now) }.map(\.name)
        let known = Dictionary(entries.map { ($0.name, $0) }) { first, _ in first }
        let failed = Set(report.failed.map(\.task))
        return tasks.filter { known[$0.name]?.isFree(at: now) ?? true && !failed.contains($0.name) }
    }
}
