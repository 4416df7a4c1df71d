import Database
import Domain
import Foundation
import Repositories

/// Runs the maintenance tasks that are due. A task that fails or has much work does not delay the others. Of all
/// processes on a store only one runs a task at a time.
package struct Housekeeping: Sendable {
    private let context: Service
    private let tasks: [MaintenanceTask]
    private let run: RunMaintenanceTask
    private let longestRound: Duration
}

package extension Housekeeping {
    /// - Parameters:
    ///   - more: tasks in addition to those of `MaintenanceTask/all(of:)`.
    ///   - longestRound: the time after which no further pass begins. In a pass each due task has a turn of some
    ///     seconds. Work that each process does every minute, and the report of overdue tasks, thus need not wait for
    ///     the end of a long task.
    init(
        _ context: Service, also more: [MaintenanceTask] = [], longestRound: Duration = .seconds(30)
    ) {
        self.context = context
        self.longestRound = longestRound
        tasks = MaintenanceTask.all(of: context) + more
        run = RunMaintenanceTask(context)
    }

    /// The result of a round.
    struct Report: Sendable {
        /// The tasks without work until they are due again.
        package var finished: [String] = []
        /// The tasks that failed in this process, with the error.
        package var failed: [(task: String, cause: any Error)] = []
        /// The tasks that are overdue, on whichever process.
        package var overdue: [String] = []
        /// Whether the round ended at its time limit, although tasks were due.
        package var isCutShort = false
    }

    /// Runs the due tasks and the process's own maintenance: it drops unused cache entries and empties the store's
    /// logs.
    ///
    /// - Throws: `Refusal` `unavailable` if the due tasks cannot be read.
    @discardableResult
    func callAsFunction() async throws -> Report {
        let idle = context.environment.now().addingTimeInterval(-context.policy[\.sessions].idleLifetime)
        context.caches.sessions.dropIdle(since: idle)
        context.caches.certificates.dropIdle(since: idle)
        var report = try await runDue()
        await refreshTrust(&report)
        let positions = try await context.read { try ClusterMemberRepository($0).positions() }
        try await context.store.reached { try await context.store.purgeChanges(below: positions) }
        // The log must not contain data that was erased since the last round, above all data keys.
        try await context.store.clearLog()
        return report
    }

    /// Uses a list of issuers that another node may have fetched. If it cannot be used, the rest is done all the same.
    private func refreshTrust(_ report: inout Report) async {
        do {
            try await context.refreshTrust()
        } catch {
            report.failed.append(("trust_list_use", error))
        }
    }

    /// Runs tasks until none is due, the time limit has passed, or the calling task is cancelled.
    ///
    /// - Throws: `Refusal` `unavailable` if the due tasks cannot be read.
    func runDue() async throws -> Report {
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

    /// The due tasks that no process has leased, in their order, without those that failed in this round.
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
