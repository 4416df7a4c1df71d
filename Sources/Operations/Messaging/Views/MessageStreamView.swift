import Database
import Domain
import Encoding
import Repositories

/// A stream as one user sees it in a list or alone.
package struct MessageStreamView: Sendable, Confidential {
    package let stream: MessageStream
    package let state: State
    package let opening: JSONValue?
    /// The number of the last message that the user may see.
    package let lastSequence: Int64
    /// The number of messages after the user's last read one; `nil` in a forum.
    package let unread: Int64?
    package let lastMessage: Service.MessageView?
    /// The present members; empty in a forum, and for a user who was removed.
    package let members: [Member]
    /// The creator and the sender of the last message, if they are not among the members. A removed user sees no names
    /// of them.
    package let profiles: [PublicProfile]
    /// How long its messages are stored from now on.
    package let storage: MessageStorage
    package internal(set) var metadata: StreamMetadata?
    package internal(set) var privateMetadata: StreamMetadata?

    /// Its approximate maximum of bytes in a response: title, description, the image's URL, the last message, the
    /// members, the creator and the last sender.
    static let largest = 8192 + 8192 + 256 + (256 + PublicProfile.largest) * (MessageStream.maximumMembers + 2)

    /// Its approximate number of bytes in a response.
    var weight: Int {
        let texts = [opening, lastMessage?.parts, metadata?.value, privateMetadata?.value]
        let people = (members.compactMap(\.profile) + profiles).reduce(256 + 256 * members.count) { $0 + $1.weight }
        return texts.reduce(people) { $0 + ($1?.jsonText.utf8.count ?? 0) }
    }
}

package extension MessageStreamView {
    enum State: String, Sendable {
        case open
        /// A direct stream whose authorization has ended. Its content is not shown.
        case closed
        /// The user was removed, and sees the earlier messages only.
        case left
    }

    /// A member as other members see it.
    struct Member: Sendable, Confidential {
        package let member: StreamMember
        /// `nil` in a closed stream, which shows only the ids of its members.
        package let profile: PublicProfile?
    }
    /// The approximate maximum of bytes with the metadata of both kinds.
    static let largestWhole = largest + 2 * StreamMetadata.Bounds.stream.bytes
}
