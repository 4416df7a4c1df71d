import Foundation
import HTTPTypes

/// Whether a user is online. A user whom this user may not see looks like one who was never online.
public struct UserPresence: Sendable, Hashable, Decodable {
    public let user: UUID
    /// Whether a device of the user waits for messages.
    public let isOnline: Bool
    /// When the user was last online, to the minute; `nil` while the user is online, and if it is not known.
    public let lastSeen: Date?

    /// Whether other users see a user's presence.
    public enum Visibility: String, Sendable, Hashable, Codable {
        /// Users who may write to the user see it.
        case visible
        /// The user looks offline to everybody, and does not see the presence of others.
        case hidden
    }

    public init(user: UUID, isOnline: Bool, lastSeen: Date? = nil) {
        (self.user, self.isOnline, self.lastSeen) = (user, isOnline, lastSeen)
    }

    private enum CodingKeys: String, CodingKey {
        case user = "user_id"
        case isOnline = "online"
        case lastSeen = "last_seen"
    }
}

extension Streams {
    /// The largest number of users in one call.
    public static let mostPresences = 50

    /// Whether some users are online.
    ///
    /// - Parameter users: up to 50.
    public func presence(of users: [UUID]) async throws(Refusal) -> [UserPresence] {
        struct Found: Decodable { let presence: [UserPresence] }
        guard !users.isEmpty else { return [] }
        let found: Found = try await client.perform(Call(.get, Self.path("/presence", [("users", Self.list(users))])))
        return found.presence
    }

    /// Hides or shows the user's presence.
    public func setPresence(_ visibility: UserPresence.Visibility) async throws(Refusal) {
        try await client.send(Call(.patch, "/me", body: ["presence": visibility.rawValue]))
    }

    static func list(_ users: [UUID]) -> String? {
        users.isEmpty ? nil : users.map(\.path).joined(separator: ",")
    }
}
