import Database
import Domain
import Foundation
import Repositories

/// Brings every data key, and the notes of bans, under the newest version of the wrapping key, in small transactions
/// beside a running service.
///
/// Only the wrapping of data keys changes; what they seal stays as it is. At any moment every data key lies under a
/// version that the keys hold, so that a run that is cut short leaves nothing closed and the next one goes on.
package struct RotateWrappingKey: Sendable {
    private let context: Administration
    private let keys: PersonalKeys

    /// Rotates to the highest version that the keys hold.
    package init(_ context: Administration, keys: PersonalKeys) {
        self.context = context
        self.keys = keys
    }

    /// How far the newest version has come.
    package struct Progress: Sendable, Equatable {
        /// The newest version among the keys.
        package let version: Int
        /// Whether new data keys lie under it on every node.
        package let isInForce: Bool
        /// How many data keys still lie under older versions.
        package let remaining: Int

        /// Whether nothing is left to do for it, so that a further version may follow.
        package var isFinished: Bool { isInForce && remaining == 0 }
    }

    /// How far the newest version has come.
    package func progress() async throws -> Progress {
        try await context.read { transaction in
            let records = DataKeyRepository(transaction, keys: keys)
            let version = keys.currentWrappingVersion
            let counts = [
                try records.countByVersion(), try BanMaintenance(transaction).countByVersion(),
                try EventStreamRepository(transaction).countByVersion(),
                try StreamKeyRepository(transaction, keys: keys).countByVersion(),
            ]
            return Progress(
                version: version, isInForce: try records.versionInForce() >= version,
                remaining: counts.joined().filter { $0.key < version }.map(\.value).reduce(0, +))
        }
    }

    /// Puts the newest version in force: nodes that do not know it yet read their keys again before they make a data key.
    package func putInForce() async throws {
        let (keys, actor) = (keys, context.actor)
        try await context.write { transaction, events in
            let version = keys.currentWrappingVersion
            guard try DataKeyRepository(transaction, keys: keys).putInForce(version) else {
                return
            }
            events.record(.wrappingKeyRotated(version: version), by: actor)
        }
    }

    /// Wraps all data keys anew that lie under older versions.
    ///
    /// - Parameters:
    ///   - batch: how many in one transaction.
    ///   - progress: told after each transaction how many were wrapped so far.
    /// - Returns: how many were wrapped, and how many could not be opened and stay as they are.
    package func rewrap(
        batch: Int = 200, progress: (Int) -> Void = { _ in }
    ) async throws -> (wrapped: Int, unreadable: Int) {
        var (wrapped, unreadable) = (0, 0)
        var mark: DataKeyRepository.Mark?
        repeat {
            let from = mark
            let step = try await context.store.transaction {
                try DataKeyRepository($0, keys: keys).rewrap(after: from, limit: batch)
            }
            wrapped += step.wrapped
            unreadable += step.unreadable
            mark = step.mark
            progress(wrapped)
        } while mark != nil
        var notes = 0
        repeat {
            notes = try await context.store.transaction { try BanMaintenance($0).rewrap(limit: batch, keys: keys) }
            wrapped += notes
            progress(wrapped)
        } while notes == batch
        var headers = 0
        repeat {
            headers = try await context.store.transaction {
                try EventStreamRepository($0).rewrap(limit: batch, keys: keys)
            }
            wrapped += headers
            progress(wrapped)
        } while headers == batch
        let streams = try await rewrapStreams(batch: batch) { progress(wrapped + $0) }
        return (wrapped + streams.wrapped, unreadable + streams.unreadable)
    }

    private func rewrapStreams(
        batch: Int, progress: (Int) -> Void
    ) async throws -> (wrapped: Int, unreadable: Int) {
        var (wrapped, unreadable) = (0, 0)
        var mark: (version: Int, stream: MessageStreamID)?
        repeat {
            let from = mark
            let step = try await context.store.transaction {
                try StreamKeyRepository($0, keys: keys).rewrap(after: from, limit: batch)
            }
            wrapped += step.wrapped
            unreadable += step.unreadable
            mark = step.mark
            progress(wrapped)
        } while mark != nil
        return (wrapped, unreadable)
    }

    /// The versions among some under which nothing lies and nothing new will: they may be taken away for good.
    package func takeLeave(of versions: Set<Int>) async throws -> Set<Int> {
        let (keys, actor) = (keys, context.actor)
        return try await context.write { transaction, events in
            let records = DataKeyRepository(transaction, keys: keys)
            let inForce = try records.versionInForce()
            let unused = versions.filter { $0 < inForce }.subtracting(try records.countByVersion().keys)
                .subtracting(try BanMaintenance(transaction).countByVersion().keys)
                .subtracting(try EventStreamRepository(transaction).countByVersion().keys)
                .subtracting(try StreamKeyRepository(transaction, keys: keys).countByVersion().keys)
            guard !unused.isEmpty else { return [] }
            let names = unused.sorted().map(String.init).joined(separator: ", ")
            events.record(.wrappingKeysRemoved(inForce: inForce, versions: names), by: actor)
            return unused
        }
    }
}
