import Crypto
import Database
import Domain
import Encoding
import Foundation
import Repositories
import Tokens

/// A user's profile in the provider's identity tokens: a display name and a picture.
struct UserProfile: Sendable, Equatable, Confidential {
    let displayName: String?
    let avatarURL: String?

    /// The last profile from a user's provider.
    static func find(_ user: UserID, keys: PersonalKeys, in transaction: any Transaction) throws -> UserProfile {
        let sealed = try UserRepository(transaction).profile(of: user)
        guard sealed.displayName != nil || sealed.avatarURL != nil,
            let key = try DataKeyRepository(transaction, keys: keys).find(user)
        else { return UserProfile(displayName: nil, avatarURL: nil) }
        return UserProfile(
            displayName: try sealed.displayName.map { try key.open($0, in: .userDisplayName, of: user) },
            avatarURL: try sealed.avatarURL.map { try key.open($0, in: .userAvatarURL, of: user) })
    }

    /// The keyed digest of the profile; `nil` if the user's stored profile is the same.
    func newIndex(for user: User, keys: PersonalKeys) -> Digest256? {
        guard displayName != nil || avatarURL != nil else { return nil }
        let index = keys.blindIndex("\(user.id)\u{1F}\(displayName ?? "")\u{1F}\(avatarURL ?? "")", .profile)
        return user.profileIndex == index ? nil : index
    }

    /// Stores the profile if it differs from the stored one: most sign-ins write nothing.
    func keep(for user: User, keys: PersonalKeys, in transaction: any Transaction) throws {
        guard let index = newIndex(for: user, keys: keys) else { return }
        let key = try DataKeyRepository(transaction, keys: keys).findOrCreate(user.id)
        try UserRepository(transaction).setProfile(
            displayName: try displayName.map { try key.seal($0, in: .userDisplayName, of: user.id) },
            avatarURL: try avatarURL.map { try key.seal($0, in: .userAvatarURL, of: user.id) },
            index: index, of: user.id)
    }
}
