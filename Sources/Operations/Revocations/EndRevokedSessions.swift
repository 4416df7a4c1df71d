import Database
import Domain
import Foundation
import Repositories

/// Updates the rows of sessions that a bulk revocation has ended, and notifies their providers. Each transaction
/// processes a batch, on the node that has the lease. If a node dies, another one continues after its last batch.
package struct EndRevokedSessions: Sendable {
    private let context: Service
    private let holder: String
    /// How long the lease of a bulk revocation lasts, in seconds.
    static let leaseTime: TimeInterval = 15
    /// Seconds between two rounds of the loop.
    static let interval: TimeInterval = 1
}

package extension EndRevokedSessions {
    /// The maximum number of sessions in one transaction. It limits how long other writers wait.
    static let batch = 1000
    /// How long a bulk revocation is kept, in seconds. By then every sign-in that read the previous generation has
    /// committed or failed.
    static let kept: TimeInterval = BulkRevocationRepository.patience

    init(_ context: Service) {
        self.context = context
        holder = context.environment.newUUID().uuidString
    }

    /// Ends all due sessions: a batch of each bulk revocation in turn, with a pause as long as the previous batch.
    ///
    /// - Returns: the number of sessions.
    /// - Throws: `Refusal` `unavailable`.
    @discardableResult
    func callAsFunction() async throws -> Int {
        var count = 0
        while !Task.isCancelled, try await context.read({ try BulkRevocationRepository($0).isDue(to: holder) }) {
            let start = ContinuousClock.now
            guard let ended = try await endBatch() else { return count }
            count += ended
            // Writers that waited for this batch go before the next one.
            if ended > 0 { try? await Task.sleep(for: max(ContinuousClock.now - start, .milliseconds(2))) }
        }
        return count
    }

    /// Ends a batch of one bulk revocation. Returns the number of sessions; `nil` if none is due.
    ///
    /// - Throws: `Refusal` `unavailable`.
    func endBatch() async throws -> Int? {
        // A separate transaction, so that other nodes do not wait for the batch.
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

    /// Ends due sessions until the task is cancelled: at once after a signal, otherwise every second.
    ///
    /// - Parameter onError: called with the error of a failed round, which the next one repeats.
    func run(_ signal: LoopSignal, onError: @escaping @Sendable (any Error) -> Void) async {
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
