import Database
import Domain
import Foundation
import Repositories

/// Erases data that a user shares with others, or may have in any number: messages to send, permissions, streams,
/// messages and their changes, attempts to sign in.
///
/// Small amounts are erased in the erasure's own transaction. Otherwise `ErasureRepository` records the user, whose
/// rows are then hidden, and they are erased in batches. After a crash the next batch continues with the remaining
/// rows.
struct EraseRest {
    let transaction: any Transaction

    /// The number of rows that are erased in the erasure's transaction: no more than a message to a full stream
    /// changes.
    static let atOnce = 50

    /// Erases small amounts in the transaction of the erasure, and leaves the rest to ``task``.
    func begin(_ user: UserID, at time: Date, _ events: inout RecordedEvents) throws {
        // Before the events of this erasure are written.
        var left = Self.atOnce - (try OutboxRepository(transaction).erase(user, at: nil, limit: Self.atOnce))
        while left > 0 {
            let count = try some(of: user, at: time, limit: left, &events)
            if count == 0 { return }
            left -= min(left, count)
        }
        try ErasureRepository(transaction).begin(user, at: time)
    }

    /// Erases rows of the user who has waited longest.
    static var task: MaintenanceTask {
        MaintenanceTask("erasures", every: 5) { transaction, batch, events in
            let erasures = ErasureRepository(transaction)
            guard let entry = try erasures.next() else { return .all(0) }
            let count = try Self(transaction: transaction).some(
                of: entry.user, at: entry.at, limit: batch.limit, &events)
            if count == 0 { try erasures.finish(entry.user) }
            return MaintenanceBatch.Outcome(rows: count, isFinished: false)
        }
    }

    /// Erases some rows. Returns their number, 0 if none was left. The rows of a stream's members are locked in the
    /// order of their ids, so it processes one stream at a time.
    private func some(of user: UserID, at time: Date, limit: Int, _ events: inout RecordedEvents) throws -> Int {
        let members = StreamMemberRepository(transaction)
        if let stream = try members.firstStream(ofErased: user) {
            let others = try members.list(of: stream).map(\.userID).filter { $0 != user }
            if !others.isEmpty {
                try StreamUserRepository(transaction).note(.erased, of: stream, for: others, at: transaction.now)
                events.record(.messagesChanged(of: others))
            }
            try members.erase(user, in: stream)
            return others.count + 1
        }
        let acts: [(Int) throws -> Int] = [
            { try OutboxRepository(transaction).erase(user, at: time, limit: $0) },
            { try MessageMetadataRepository(transaction).erase(user, limit: $0) },
            { try StreamMessageRepository(transaction).erase(user, limit: $0) },
            { try MessageStreamRepository(transaction).erase(createdBy: user, limit: $0) },
            { try AuthorizationRepository(transaction).erase(user, at: time, limit: $0) },
            { try StreamUserRepository(transaction).erase(user, limit: $0) },
            { try SignInRecordRepository(transaction).erase(user, limit: $0) },
        ]
        for act in acts {
            let count = try act(limit)
            if count > 0 { return count }
        }
        return 0
    }
}
