import Database
import Domain
import Foundation
import Repositories

/// Ends the rows of sessions that a cut has ended, with what their providers are told: a batch in each transaction, by
/// whichever node takes the cut. One that dies leaves whole batches, and another goes on where it was.
package struct EndRevokedSessions: Sendable {
    private let context: Service
    private let holder: String

    /// How many sessions one transaction ends at most: it bounds how long other writers wait.
    package static let batch = 1000
    /// How long a node keeps a cut that it does not go on with, seconds.
    static let leaseTime: TimeInterval = 15
    /// How long a cut is kept, seconds: a sign-in that had looked before it has been committed or given up by then.
    package static let kept: TimeInterval = BulkRevocationRepository.patience
    /// How often the loop looks, seconds.
    static let interval: TimeInterval = 1

    package init(_ context: Service) {
        self.context = context
        holder = context.environment.newUUID().uuidString
    }

    /// Ends everything that is due: of several cuts some of each in turn, with a pause as long as the batch before it.
    ///
    /// - Returns: how many sessions.
    /// - Throws: `Refusal` `unavailable`.
    @discardableResult
    package func callAsFunction() async throws -> Int {
        var count = 0
        while !Task.isCancelled, try await context.read({ try BulkRevocationRepository($0).isDue(to: holder) }) {
            let start = ContinuousClock.now
            guard let ended = try await endBatch() else { return count }
            count += ended
            // Whoever waited for this batch goes before the next one.
            if ended > 0 { try? await Task.sleep(for: max(ContinuousClock.now - start, .milliseconds(2))) }
        }
        return count
    }

    /// Ends some sessions of one cut; how many, `nil` if no cut is due.
    ///
    /// - Throws: `Refusal` `unavailable`.
    package func endBatch() async throws -> Int? {
        // On its own: whoever wants it as well does not wait for the batch.
        let taken = try await context.store.maintained { [holder] in
            try BulkRevocationRepository($0).take(by: holder, for: Self.leaseTime)
        }
        guard let taken else { return nil }
        return try await context.maintain { [holder] transaction, events in
            let cuts = BulkRevocationRepository(transaction)
            guard let held = try cuts.hold(taken, by: holder, for: Self.leaseTime) else { return nil }
            var cut = try cuts.merge(into: held)
            let ended = try SessionRepository(transaction).end(cut, limit: Self.batch)
            cut.ended += Int64(ended.count)
            events.record(.sessionsEndedInBatch(ended))
            let end = cut.at.addingTimeInterval(Self.kept)
            if !ended.isEmpty {
                try cuts.keep(cut)
            } else if transaction.now < end {
                try cuts.giveBack(cut, until: min(end, transaction.now.addingTimeInterval(Self.kept)))
            } else {
                try cuts.delete(cut)
                if cut.ended > 0 { events.record(.bulkRevocationEnded(cut)) }
            }
            return ended.count
        }
    }

    /// Ends what is due until the task is cancelled: at once when the signal rings, and otherwise each second.
    ///
    /// - Parameter onError: told when a round failed; the next one tries again.
    package func run(_ signal: LoopSignal, onError: @escaping @Sendable (any Error) -> Void) async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                while !Task.isCancelled {
                    signal.ring()
                    try? await Task.sleep(for: .seconds(Self.interval))
                }
            }
            for await _ in signal.rings {
                do {
                    try await self()
                } catch {
                    onError(error)
                }
            }
            group.cancelAll()
        }
    }
}
