import Foundation

/// A notification of the user's provider, for each of the user's devices.
public struct ProviderNotification: Sendable, Hashable, Codable {
    /// The provider's id. A push contains it as `notification_id`.
    public let id: UUID
    public let title: String?
    public let body: String?
    /// Texts for the app, by name.
    public let data: [String: String]
    public let sentAt: Date

    public init(id: UUID, title: String?, body: String?, data: [String: String] = [:], sentAt: Date) {
        (self.id, self.title, self.body, self.data, self.sentAt) = (id, title, body, data, sentAt)
    }

    private enum CodingKeys: String, CodingKey {
        case id, title, body, data
        case sentAt = "sent_at"
    }
}
