import CountersignClient
import Foundation

extension LocalStreams {
    /// Watches whether users are online, such as the participants that an app shows now. It replaces the users of the
    /// previous call. ``presence`` has an element for each of them at once, and for each change after the next
    /// synchronization began.
    ///
    /// - Parameter users: the first 50 are watched.
    public func watchPresence(of users: [UUID]) async throws(Refusal) {
        watched = [:]
        for user in users.prefix(Streams.mostPresences) { watched.updateValue(nil, forKey: user) }
        take(try await streams.presence(of: Array(watched.keys)))
    }

    /// The presence of a watched user, as it was last reported.
    public func presence(of user: UUID) -> UserPresence? { watched[user] ?? nil }

    /// Reports what has changed. A user that is no longer watched is skipped.
    func take(_ found: [UserPresence]) {
        for one in found {
            guard let known = watched[one.user], known != one else { continue }
            watched.updateValue(one, forKey: one.user)
            presences.send(one)
        }
    }
}
