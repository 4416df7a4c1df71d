import Encoding
import Foundation

/// A user of one provider. One person in two providers' apps is two users.
public struct User: Sendable, Equatable {
    /// The service's name for the user.
    public let id: UserID
    /// The provider that vouches.
    public let providerID: ProviderID
    /// The provider's own name for the user, 1 to 256 bytes.
    public let externalID: String
    /// How far the user is verified.
    public var assurance: Assurance
    /// When the user was first seen.
    public let createdAt: Date
    /// A keyed digest of what the provider says of the user; `nil` where it said nothing yet.
    public let profileIndex: Digest256?

    /// Joins the parts.
    public init(
        id: UserID, providerID: ProviderID, externalID: String, assurance: Assurance, createdAt: Date,
        profileIndex: Digest256? = nil
    ) {
        self.id = id
        self.providerID = providerID
        self.externalID = externalID
        self.assurance = assurance
        self.createdAt = createdAt
        self.profileIndex = profileIndex
    }
}
