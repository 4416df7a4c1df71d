import Database
import Domain
import Foundation
import Repositories

/// Wraps every data key, and seals the notes of bans, under the newest version of the wrapping key. It uses small
/// transactions while the service runs.
///
/// Only the wrapping of data keys changes, not the data. At any time every data key is wrapped under an existing
/// version. So an interrupted run makes no data unreadable, and the next run continues.
package struct RotateWrappingKey: Sendable {
    private let context: Administration
    private let keys: PersonalKeys
}

package extension RotateWrappingKey {
    /// - Parameter keys: the keys, whose highest version is the new one.
    init(_ context: Administration, keys: PersonalKeys) {
        self.context = context
        self.keys = keys
    }

    /// The progress of the newest version.
    struct Progress: Sendable, Equatable {
        /// The highest version of the wrapping key.
        let version: Int
        /// Whether new data keys are wrapped under it on every node.
        let isInForce: Bool
        /// The number of data keys under older versions.
        package let remaining: Int

        /// Whether the rotation is complete, so that another version may be added.
        package var isFinished: Bool { isInForce && remaining == 0 }
    }

    /// Reads the progress of the newest version.
    func progress() async throws -> Progress {
        try await context.read(.manage) { transaction in
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

    /// Puts the newest version into force. Nodes without it reload their keys before they make a data key.
    func putInForce() async throws {
        let (keys, actor) = (keys, context.actor)
        try await context.write(.manage) { transaction, events in
            let version = keys.currentWrappingVersion
            guard try DataKeyRepository(transaction, keys: keys).putInForce(version) else {
                return
            }
            events.record(.wrappingKeyRotated(version: version), by: actor)
        }
    }

    /// Wraps all data keys under older versions again.
    ///
    /// - Parameters:
    ///   - batch: the number of keys in one transaction.
    ///   - progress: called after each transaction with the number of keys so far.
    /// - Returns: the number of wrapped keys, and of keys that could not be opened and stay unchanged.
    func rewrap(
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

    /// The versions among some that no data uses and that will not be used again. They may be removed permanently.
    func takeLeave(of versions: Set<Int>) async throws -> Set<Int> {
        let (keys, actor) = (keys, context.actor)
        return try await context.write(.manage) { transaction, events in
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
