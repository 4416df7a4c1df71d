import Database
import Domain
import Foundation
import Repositories

/// Writes to the store which users are online on this node, and announces the changes to the other nodes.
///
/// A node writes at most ``batch`` users a second, in one transaction, and 16 bytes for each into the change log: 8 KB a
/// second, 29 MB an hour. Others wait for the next second. A user who is online and stays so is not written again.
package struct AnnouncePresence: Sendable {
    /// The largest number of users in one transaction.
    static let batch = 500
    private static let interval: Duration = .seconds(1)

    private let context: Service
    private let node: NodeID

    /// Writes a batch of changes. Changes that could not be written are written the next time.
    ///
    /// - Parameter isEnding: whether this node ends. Then users who left go offline at once, and no others are written.
    /// - Returns: the number of users.
    /// - Throws: `Refusal` `unavailable`.
    @discardableResult
    func callAsFunction(isEnding: Bool = false) async throws -> Int {
        let online = context.node.online
        let grace = isEnding ? .zero : OnlineUsers.grace
        let changes = online.take(
            limit: Self.batch, grace: grace, sharing: isEnding ? .off : context.policy[\.streams].presence)
        guard !changes.isEmpty else { return 0 }
        let node = node
        do {
            try await context.maintain { transaction, events in
                let records = PresenceRepository(transaction)
                let leftAt = transaction.now.addingTimeInterval(-(grace / .seconds(1)))
                try records.leave(changes.left, node, at: leftAt)
                try records.arrive(changes.arrived, on: node, at: transaction.now)
                events.record(.presenceChanged(of: changes.left + changes.arrived))
            }
        } catch {
            online.putBack(changes)
            throw error
        }
        return changes.left.count + changes.arrived.count
    }
}

package extension AnnouncePresence {
    /// - Parameter node: the node whose heartbeat shows whether its users are online.
    init(_ context: Service, node: NodeID) {
        (self.context, self.node) = (context, node)
    }

    /// Writes every second until the task is cancelled. Then it writes the users whose connections this node has
    /// closed.
    ///
    /// - Parameter onError: called with the first of consecutive failures, and every ten seconds while they last.
    func run(onError: @escaping @Sendable (any Error) -> Void) async {
        let failures = FailureReports(onError)
        while !Task.isCancelled {
            guard (try? await Task.sleep(for: Self.interval)) != nil else { break }
            do {
                try await self()
                failures.end()
            } catch {
                failures.tell(error)
            }
        }
        // A separate task, because the cancellation must not stop it.
        await Task {
            do {
                while try await self(isEnding: true) > 0 {}
            } catch {
                onError(error)
            }
        }.value
    }
}
