import Database
import Domain
import Foundation
import Repositories

/// Fetches key sets that are no longer fresh, so that removed keys are noticed, and sign-ins seldom wait.
package struct RefreshIssuers: Sendable {
    private let context: Service
    private let keys: IssuerKeys

    /// Seconds between two checks of a node.
    static let interval: TimeInterval = 20
    /// The number of concurrent fetches of this loop. A sign-in that needs another key set does not wait for them.
    static let atOnce = 8

    /// Fetches the key sets that are due.
    ///
    /// - Returns: the result of each issuer.
    /// - Throws: `Refusal` `unavailable`.
    @discardableResult
    func callAsFunction() async throws -> [String: IssuerReading] {
        let due = try await context.read { try IssuerRepository($0).listDue(limit: 256) }
        return try await withThrowingTaskGroup(of: (String, IssuerReading).self) { [keys] group in
            var readings: [String: IssuerReading] = [:]
            for (index, issuer) in due.enumerated() {
                if index >= Self.atOnce, let (read, reading) = try await group.next() { readings[read] = reading }
                group.addTask { (issuer, try await keys.refresh(issuer)) }
            }
            for try await (read, reading) in group { readings[read] = reading }
            return readings
        }
    }
}

package extension RefreshIssuers {
    init(_ context: Service) {
        self.context = context
        keys = IssuerKeys(context)
    }

    /// Fetches key sets until the task is cancelled.
    ///
    /// - Parameters:
    ///   - onChange: called with an issuer whose keys can no longer be fetched, and the reason, or whose keys can be
    ///     fetched again.
    ///   - onFailure: called if the store is unavailable.
    func run(
        onChange: @Sendable (_ issuer: String, _ failure: String?) -> Void, onFailure: @Sendable (any Error) -> Void
    ) async {
        var away: Set<String> = []
        while !Task.isCancelled {
            do {
                for (issuer, reading) in try await self() {
                    let isNew = reading.failure == nil ? away.remove(issuer) != nil : away.insert(issuer).inserted
                    if isNew { onChange(issuer, reading.failure) }
                }
            } catch {
                onFailure(error)
            }
            try? await Task.sleep(for: .seconds(Self.interval))
        }
    }
}
