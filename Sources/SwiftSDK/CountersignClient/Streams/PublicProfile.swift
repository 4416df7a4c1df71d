import Foundation

/// What a user shows to other users of the provider.
public struct PublicProfile: Sendable, Hashable, Codable {
    public let userID: UUID
    /// The provider's short name and its own id of the user, `<provider slug>/<external id>`.
    public let address: String
    /// The name from the provider; `nil` if there is none, and if the service does not show names.
    public let displayName: String?
    /// The first letters of the name on the user's card.
    public let initials: String?
    /// The picture from the provider.
    public let pictureURL: URL?

    public init(
        userID: UUID, address: String, displayName: String? = nil, initials: String? = nil, pictureURL: URL? = nil
    ) {
        (self.userID, self.address, self.displayName) = (userID, address, displayName)
        (self.initials, self.pictureURL) = (initials, pictureURL)
    }

    /// The best name to show: the display name, the initials, or the address.
    public var shownName: String { displayName ?? initials ?? address }

    private enum CodingKeys: String, CodingKey {
        case address, initials
        case userID = "user_id"
        case displayName = "display_name"
        case pictureURL = "picture_url"
    }
}
