import Database
import Domain
import Foundation
import Repositories

/// Recurring work on the store as a whole, by one process at a time. It is done in batches, each in a separate
/// transaction.
package struct MaintenanceTask: Sendable {
    /// The task's name in the store, the metrics and the log.
    let name: String
    /// Seconds from the end of one run until the task is due again.
    let interval: TimeInterval
    /// Runs before the batches of a turn. It returns whether the task is due again as soon as they are done.
    let prepare: @Sendable () async throws -> Bool
    /// Processes a batch. The consequences of recorded events are applied as for any other change.
    let batch: @Sendable (any Transaction, MaintenanceBatch, inout RecordedEvents) throws -> MaintenanceBatch.Outcome

    /// - Parameter batch: finds rows by age or key, and repeats that condition when it changes them: see
    ///   `Database/maintain(_:)`. It may run again, and after a crash it may start at an earlier position.
    init(
        _ name: String, every interval: TimeInterval, prepare: @escaping @Sendable () async throws -> Void = {},
        recording batch:
            @escaping @Sendable (any Transaction, MaintenanceBatch, inout RecordedEvents) throws ->
            MaintenanceBatch.Outcome
    ) {
        self.name = name
        self.interval = interval
        self.prepare = {
            try await prepare()
            return false
        }
        self.batch = batch
    }

    /// For a task that may have more work after the batches of a turn.
    ///
    /// - Parameter prepare: returns whether the task is due again as soon as the batches are done.
    init(
        _ name: String, every interval: TimeInterval, preparing prepare: @escaping @Sendable () async throws -> Bool,
        batch: @escaping @Sendable (any Transaction, MaintenanceBatch) throws -> MaintenanceBatch.Outcome
    ) {
        self.name = name
        self.interval = interval
        self.prepare = prepare
        self.batch = { transaction, part, _ in try batch(transaction, part) }
    }

    /// For a task whose batches record no events.
    init(
        _ name: String, every interval: TimeInterval, prepare: @escaping @Sendable () async throws -> Void = {},
        batch: @escaping @Sendable (any Transaction, MaintenanceBatch) throws -> MaintenanceBatch.Outcome
    ) {
        self.init(
            name, every: interval, prepare: prepare,
            recording: { transaction, part, _ in
                try batch(transaction, part)
            })
    }
}
