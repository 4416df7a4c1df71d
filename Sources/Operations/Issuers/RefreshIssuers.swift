import Database
import Domain
import Foundation
import Repositories

/// Reads the key sets that are fresh no more, so that a key that left one is noticed, and sign-ins seldom wait.
package struct RefreshIssuers: Sendable {
    private let context: Service
    private let keys: IssuerKeys

    /// How often a node looks, seconds.
    static let interval: TimeInterval = 20
    /// How many are read at once by this loop. A sign-in that needs another waits for none of them.
    static let atOnce = 8

    package init(_ context: Service) {
        self.context = context
        keys = IssuerKeys(context)
    }

    /// Reads what is due.
    ///
    /// - Returns: how it went, by issuer.
    /// - Throws: `Refusal` `unavailable`.
    @discardableResult
    package func callAsFunction() async throws -> [String: IssuerReading] {
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

    /// Does so until the task is cancelled.
    ///
    /// - Parameters:
    ///   - onChange: called with an issuer that cannot be read any more, and why, or that can be read again.
    ///   - onFailure: called when the store could not be reached.
    package func run(
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
