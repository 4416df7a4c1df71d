import Encoding
import Foundation

/// A user of one provider. A person who uses the apps of two providers is two users.
package struct User: Sendable, Equatable {
    /// The service's id of the user.
    package let id: UserID
    /// The provider that identifies the user.
    package let providerID: ProviderID
    /// The provider's own id of the user, 1 to 256 bytes.
    package let externalID: String
    /// How far the user's identity is proved.
    package var assurance: Assurance
    /// When the service first learned of the user.
    package let createdAt: Date
    /// A keyed digest of the user's profile from the provider; `nil` if the provider has sent none.
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
