import Database
import Domain
import Foundation
import Repositories

/// Writes the uses of sessions that this node has recorded, independently of the requests that made them.
package struct WriteLastUses: Sendable {
    /// The largest number of uses in one transaction: it limits how long other writers wait.
    static let batch = 250

    private let context: Service

    /// Writes all recorded uses. A part that fails is kept for the next time, and the others are still written, because
    /// only one of its rows may be locked. After three failures the store is considered unavailable.
    ///
    /// - Throws: `Refusal` `unavailable`, the last failure.
    func callAsFunction() async throws {
        let (store, noted) = (context.store, context.caches.lastUses)
        var uses = noted.takeAll()[...]
        var failures: [any Error] = []
        while !uses.isEmpty {
            let part = Array(uses.prefix(Self.batch))
            let start = ContinuousClock.now
            do {
                try await store.maintained { try SessionRepository($0).recordUses(part) }
            } catch {
                failures.append(error)
                guard failures.count < 3 else {
                    noted.putBack(uses)
                    break
                }
                noted.putBack(part)
            }
            uses = uses.dropFirst(Self.batch)
            // Writers that waited for this part go before the next one.
            if !uses.isEmpty { try? await Task.sleep(for: ContinuousClock.now - start) }
        }
        if let failure = failures.last { throw failure }
    }
}

package extension WriteLastUses {
    init(_ context: Service) {
        self.context = context
    }

    /// Writes at intervals until the task is cancelled, then once more.
    ///
    /// - Parameter onError: called with each failure.
    func run(onError: @escaping @Sendable (any Error) -> Void) async {
        @Sendable func write() async {
            do { try await self() } catch { onError(error) }
        }
        while !Task.isCancelled {
            let interval = context.policy[\.sessions].useWriteInterval
            guard (try? await Task.sleep(for: .seconds(interval))) != nil else { break }
            await write()
        }
        // A separate task, because the cancellation must not stop it.
        await Task { await write() }.value
    }
}
