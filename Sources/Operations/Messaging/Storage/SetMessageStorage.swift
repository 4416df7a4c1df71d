import Database
import Domain
import Repositories

package extension Service {
    /// Sets how long messages that the user writes or gets are stored. It applies to later messages of each stream that
    /// the user is a member of.
    ///
    /// - Throws: `Refusal` `malformed_request`, `unavailable`.
    func setMessageStorage(_ text: String, for session: Session) async throws {
        guard let storage = MessageStorage(rawValue: text) else { throw Refusal.unknownMessageStorage }
        try await act(for: session) { transaction, holder, _ in
            try MessageStorageRepository(transaction).set(storage, of: holder.user.id, at: transaction.now)
        }
    }
}
