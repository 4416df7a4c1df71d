import Database
import Domain
import Foundation
import Repositories

/// Something that is done again and again to the store as a whole, by one process at a time: in batches, each of which is
/// a transaction of its own.
package struct MaintenanceTask: Sendable {
    /// As the store, the metrics and the log call it.
    package let name: String
    /// Seconds from the end of one run until the task is due again.
    package let interval: TimeInterval
    /// What comes before the batches of a turn. It says whether the task is due again as soon as they are done.
    let prepare: @Sendable () async throws -> Bool
    /// Does some of what is due. What it records is followed up as for any other change.
    let batch: @Sendable (any Transaction, MaintenanceBatch, inout RecordedEvents) throws -> MaintenanceBatch.Outcome

    /// Describes a task.
    ///
    /// - Parameter batch: finds rows by age or key, and repeats that condition when it changes them: see
    ///   `Database/maintain(_:)`. It may be begun again, and after a crash it is told of an earlier place.
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

    /// Describes a task that may have more to do behind the batches of a turn.
    ///
    /// - Parameter prepare: says whether the task is due again as soon as the batches are done.
    init(
        _ name: String, every interval: TimeInterval, preparing prepare: @escaping @Sendable () async throws -> Bool,
        batch: @escaping @Sendable (any Transaction, MaintenanceBatch) throws -> MaintenanceBatch.Outcome
    ) {
        self.name = name
        self.interval = interval
        self.prepare = prepare
        self.batch = { transaction, part, _ in try batch(transaction, part) }
    }

    /// Describes a task that has no consequences.
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
