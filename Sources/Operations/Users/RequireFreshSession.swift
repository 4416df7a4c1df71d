import Domain
import Foundation

extension ServiceContext {
    /// Requires a session that was opened or renewed lately, for actions that cannot be undone or that show all data.
    ///
    /// - Throws: `Refusal` `session_challenged` if the session is older than ten minutes.
    func requireFresh(_ session: Session) throws(Refusal) {
        guard environment.now().timeIntervalSince(session.renewedAt) <= 600 else {
            throw Refusal(
                .sessionChallenged,
                "This call requires a session that was created or renewed within the last ten minutes: sign in again.")
        }
    }
}
