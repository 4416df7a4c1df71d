import Database
import Domain
import Repositories

package extension Service {
    /// Sets how long messages that the user writes or gets are stored. It applies to later messages of each stream that
    /// the user is a member of.
    ///
    /// - Throws: `Refusal` with the session codes, `unavailable`.
    func setMessageStorage(_ storage: MessageStorage, for session: Session) async throws {
        try await act(for: session) { transaction, holder, _ in
            try MessageStorageRepository(transaction).set(storage, of: holder.user.id, at: transaction.now)
        }
    }
}
