import Foundation
import HTTPTypes

/// An app that may read the user's data, or that the user forbids: `GET /me/apps`.
public struct AllowedApp: Sendable, Hashable, Decodable {
    public let id: UUID
    public let name: String
    /// The number of the app's sessions of the user.
    public let sessions: Int
    public let lastUsedAt: Date?
    /// When the user forbade the app; `nil` if it is allowed.
    public let forbiddenAt: Date?
    /// Whether it is this app.
    public let isCurrent: Bool

    private enum CodingKeys: String, CodingKey {
        case name, sessions
        case id = "app_id"
        case lastUsedAt = "last_used_at"
        case forbiddenAt = "forbidden_at"
        case isCurrent = "current"
    }
}

extension Countersign {
    /// Lists the apps that have sessions of the user, and those that the user forbids.
    public func apps() async throws(Refusal) -> [AllowedApp] {
        struct Answer: Decodable { let apps: [AllowedApp] }
        let answer: Answer = try await perform(Call(.get, "/me/apps"))
        return answer.apps
    }

    /// Forbids an app. Its sessions of the user end at once, and it cannot open others until ``allow(app:)``.
    ///
    /// - Throws: `conflict` for this app, because the user could not allow it again.
    public func forbid(app: UUID) async throws(Refusal) { try await send(Call(.delete, "/me/apps/\(app.path)")) }

    /// Lets an app open sessions of the user again.
    public func allow(app: UUID) async throws(Refusal) { try await send(Call(.put, "/me/apps/\(app.path)")) }
}
