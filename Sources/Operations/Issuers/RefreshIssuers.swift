import Database
import Domain
import Foundation
import Repositories

/// Reads the key sets that are fresh no more, so that a key that left one is noticed, and sign-ins seldom wait.
package struct RefreshIssuers: Sendable {
    private let context: ServiceContext
    private let keys: IssuerKeys

    /// How often a node looks, seconds.
    static let interval: TimeInterval = 20
    /// How many are read at once by this loop. A sign-in that needs another waits for none of them.
    static let atOnce = 8

    package init(_ context: ServiceContext) {
        self.context = context
        keys = IssuerKeys(context)
    }

    /// Reads what is due.
    ///
    /// - Returns: how many issuers were tried.
    /// - Throws: `Refusal` `unavailable`.
    @discardableResult
    package func callAsFunction() async throws -> Int {
        let due = try await context.store.snapshot { try IssuerRepository($0).listDue(limit: 256) }
        try await withThrowingTaskGroup(of: Void.self) { [keys] group in
            for (index, issuer) in due.enumerated() {
                if index >= Self.atOnce { try await group.next() }
                group.addTask { try await keys.refresh(issuer) }
            }
            try await group.waitForAll()
        }
        return due.count
    }

    /// Does so until the task is cancelled.
    ///
    /// - Parameter onFailure: called when the store could not be reached.
    package func run(onFailure: @Sendable (any Error) -> Void) async {
        while !Task.isCancelled {
            do { try await self() } catch { onFailure(error) }
            try? await Task.sleep(for: .seconds(Self.interval))
        }
    }
}
