import Database
import Domain
import Encoding
import Foundation

/// Changes, for the caches of all processes. A change is written in the transaction that makes it, and no writer waits
/// for another.
package struct ChangeLog {
    private let transaction: any Transaction
}

package extension ChangeLog {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// A key or message that caches must invalidate or deliver.
    enum Change: Sendable, Hashable {
        /// The session whose token has this hash.
        case session(Digest256)
        /// All sessions of a user.
        case user(UserID)
        /// A banned user: all sessions, and the connections that no other user has.
        case bannedUser(UserID)
        /// A user's level. The sessions do not change.
        case userLevel(UserID)
        /// A device's certificates, bans and sessions.
        case device(DeviceID)
        /// A provider, its keys, its apps and its sessions.
        case provider(ProviderID)
        /// A provider's keys and apps. Its sessions do not change.
        case providerKeys(ProviderID)
        /// All sessions that a provider's key opened or renewed.
        case providerKey(ProviderKeyID)
        /// New changes for users to synchronize. They are not cached; the change wakes waiting calls.
        case messages([UserID])
        /// A member of a stream is typing: the stream, the member, and the users who may see it. It is not cached.
        case typing(MessageStreamID, UserID, [UserID])
        /// Users who are online or offline now, or are seen by other users than before. It wakes users that watch them.
        case presence([UserID])
        /// An administrator's role and certificates.
        case administrator(AdministratorID)
    }

    /// Appends a change, which all processes read after the commit.
    func append(_ change: Change) throws {
        try transaction.appendChange(kind: change.kind.rawValue, key: change.key)
    }
}

extension ChangeLog.Change {
    /// The log's numbers of kinds. A number is never reused with another meaning.
    enum Kind: Int {
        case session = 1
        case user = 2
        case bannedUser = 3
        case device = 4
        case provider = 5
        case providerKeys = 6
        case providerKey = 7
        case userLevel = 8
        case messages = 9
        case typing = 10
        case presence = 11
        case administrator = 12
    }

    fileprivate var kind: Kind {
        switch self {
        case .session: .session
        case .user: .user
        case .bannedUser: .bannedUser
        case .userLevel: .userLevel
        case .device: .device
        case .provider: .provider
        case .providerKeys: .providerKeys
        case .providerKey: .providerKey
        case .messages: .messages
        case .typing: .typing
        case .presence: .presence
        case .administrator: .administrator
        }
    }

    fileprivate var key: [UInt8] {
        switch self {
        case .session(let hash): hash.bytes
        case .user(let id), .bannedUser(let id), .userLevel(let id): id.bytes
        case .device(let id): id.bytes
        case .provider(let id), .providerKeys(let id): id.bytes
        case .providerKey(let id): id.bytes
        case .administrator(let id): id.bytes
        case .messages(let ids), .presence(let ids): ids.flatMap(\.bytes)
        case .typing(let stream, let user, let others): stream.bytes + user.bytes + others.flatMap(\.bytes)
        }
    }

    /// Parses an entry of the log; `nil` for a kind that this version does not know.
    package init?(_ logged: LoggedChange) {
        switch Kind(rawValue: logged.kind) {
        case .session:
            guard let digest = Digest256(logged.key) else { return nil }
            self = .session(digest)
        case .user:
            guard let id = UserID(bytes: logged.key) else { return nil }
            self = .user(id)
        case .bannedUser:
            guard let id = UserID(bytes: logged.key) else { return nil }
            self = .bannedUser(id)
        case .userLevel:
            guard let id = UserID(bytes: logged.key) else { return nil }
            self = .userLevel(id)
        case .device:
            guard let id = DeviceID(bytes: logged.key) else { return nil }
            self = .device(id)
        case .provider:
            guard let id = ProviderID(bytes: logged.key) else { return nil }
            self = .provider(id)
        case .providerKeys:
            guard let id = ProviderID(bytes: logged.key) else { return nil }
            self = .providerKeys(id)
        case .providerKey:
            guard let id = ProviderKeyID(bytes: logged.key) else { return nil }
            self = .providerKey(id)
        case .administrator:
            guard let id = AdministratorID(bytes: logged.key) else { return nil }
            self = .administrator(id)
        case .messages:
            self = .messages(Self.users(logged.key[...]))
        case .presence:
            self = .presence(Self.users(logged.key[...]))
        case .typing:
            let (stream, user) = (logged.key.prefix(16), logged.key.dropFirst(16).prefix(16))
            guard let stream = MessageStreamID(bytes: Array(stream)), let user = UserID(bytes: Array(user)) else {
                return nil
            }
            self = .typing(stream, user, Self.users(logged.key.dropFirst(32)))
        case nil: return nil
        }
    }

    private static func users(_ key: ArraySlice<UInt8>) -> [UserID] {
        stride(from: key.startIndex, to: key.endIndex, by: 16).compactMap {
            UserID(bytes: Array(key[$0...].prefix(16)))
        }
    }
}
