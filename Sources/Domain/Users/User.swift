import Encoding
import Foundation

/// A user of one provider. One person in two providers' apps is two users.
package struct User: Sendable, Equatable {
    /// The service's name for the user.
    package let id: UserID
    /// The provider that vouches.
    package let providerID: ProviderID
    /// The provider's own name for the user, 1 to 256 bytes.
    package let externalID: String
    /// How far the user is verified.
    package var assurance: Assurance
    /// When the user was first seen.
    package let createdAt: Date
    /// A keyed digest of what the provider says of the user; `nil` if it said nothing yet.
    package let profileIndex: Digest256?

    package init(
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
