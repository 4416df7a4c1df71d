import Domain
import Foundation

extension ServiceContext {
    /// What cannot be undone, or shows everything, wants a user who proved an identity just now.
    ///
    /// - Throws: `Refusal` `session_challenged` where the session is older than ten minutes.
    func requireFresh(_ session: Session) throws(Refusal) {
        guard environment.now().timeIntervalSince(session.renewedAt) <= 600 else {
            throw Refusal(
                .sessionChallenged,
                "This call wants a session that was created or renewed within the last ten minutes: sign in again.")
        }
    }
}
