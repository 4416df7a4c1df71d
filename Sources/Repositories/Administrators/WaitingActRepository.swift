import Database
import Domain
import Foundation

/// Acts that wait for a second administrator, and the urgent ones of the last day.
package struct WaitingActRepository {
    private let transaction: any Transaction
}

package extension WaitingActRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = Table<WaitingAct>(
        "waiting_acts", WaitingAct.init,
        Field("id", \.id),
        Field("kind", \.kind),
        Field("subject", \.subject),
        Field("content", \.content),
        Field("users", \.users),
        Field("reason", \.reason),
        Field("admin_id", \.requestedBy),
        Field("created_at", \.createdAt),
        Field("is_urgent", \.isUrgent))

    func insert(_ act: WaitingAct) throws {
        try transaction.execute(Self.columns.insertion, Self.columns.row(act))
    }

    func find(_ id: WaitingActID) throws -> WaitingAct? {
        try transaction.first(Self.columns, "WHERE id = $1", [.id(id)])
    }

    /// The acts after a time, newest first.
    func list(after time: Date) throws -> [WaitingAct] {
        try transaction.query(Self.columns, "WHERE created_at > $1 ORDER BY created_at DESC, id DESC", [.time(time)])
    }

    /// Deletes an act; `false` if there is none.
    func delete(_ id: WaitingActID) throws -> Bool {
        try transaction.execute("DELETE FROM waiting_acts WHERE id = $1", [.id(id)]) > 0
    }

    /// Deletes the acts up to a time.
    func delete(through time: Date) throws {
        try transaction.execute("DELETE FROM waiting_acts WHERE created_at <= $1", [.time(time)])
    }
}
