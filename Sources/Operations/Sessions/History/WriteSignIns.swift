import Database
import Domain
import Foundation
import Repositories

/// Writes the attempts to sign in that this node has recorded, independently of the requests that made them.
package struct WriteSignIns: Sendable {
    /// The largest number of rows in one transaction: it limits how long other writers wait.
    static let batch = 250
    /// The time between two rounds, in seconds.
    private static let interval = 2

    private let context: Service
}

extension SignInAttempt.Tally {
    fileprivate init(_ crowd: SignInRecords.Crowd, _ count: SignInRecords.Count, _ keys: PersonalKeys) {
        self.init(
            hour: crowd.hour, providerID: crowd.providerID,
            network: keys.blindIndex("sign-in " + crowd.network, .networkAddress), accepted: count.accepted,
            refused: count.refused)
    }
}

package extension WriteSignIns {
    init(_ context: Service) {
        self.context = context
    }

    /// Writes at intervals until the task is cancelled, then once more.
    ///
    /// - Parameters:
    ///   - onLoss: called with the number of attempts that were lost.
    ///   - onError: called with each failure.
    func run(onLoss: @escaping @Sendable (Int) -> Void, onError: @escaping @Sendable (any Error) -> Void) async {
        @Sendable func write() async {
            do { onLoss(try await self()) } catch { onError(error) }
        }
        while !Task.isCancelled {
            guard (try? await Task.sleep(for: .seconds(Self.interval))) != nil else { break }
            await write()
        }
        // A separate task, because the cancellation must not stop it.
        await Task { await write() }.value
    }

    /// Writes everything, and returns how many attempts were lost since the last round because there were too many
    /// others. After a failure the rest is kept for the next time. If the outcome of a commit is unknown, a count may be
    /// added twice.
    ///
    /// - Throws: `Refusal` `unavailable`.
    @discardableResult
    func callAsFunction() async throws -> Int {
        let (records, keys) = (context.caches.signIns, context.keys.personal)
        let content = records.takeAll()
        var entries = content.entries[...]
        // Nodes write the rows that they share in one order, or they would wait for each other.
        var tallies = content.counts.sorted { $0.key.order < $1.key.order }[...]
        while !entries.isEmpty || !tallies.isEmpty {
            let some = entries.prefix(Self.batch)
            let few = tallies.prefix(Self.batch - some.count)
            let start = ContinuousClock.now
            do {
                try await context.store.maintained { transaction in
                    let attempts = SignInRecordRepository(transaction)
                    for entry in some { try attempts.enqueueInsert(entry.attempt, of: entry.externalID) }
                    let counts = SignInTallyRepository(transaction)
                    for (crowd, count) in few { try counts.enqueueAdd(SignInAttempt.Tally(crowd, count, keys)) }
                }
            } catch {
                records.putBack(entries, tallies, dropped: content.dropped)
                throw error
            }
            entries = entries.dropFirst(some.count)
            tallies = tallies.dropFirst(few.count)
            // Writers that waited for this part go before the next one.
            if !entries.isEmpty || !tallies.isEmpty { try? await Task.sleep(for: ContinuousClock.now - start) }
        }
        return content.dropped
    }
}
