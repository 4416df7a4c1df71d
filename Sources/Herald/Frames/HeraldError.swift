/// Why a control frame failed, or why the service ends a connection: the number in a response frame.
package enum HeraldError: UInt8, Error, Sendable, CaseIterable {
    /// What came is no frame, or no message of Thrift.
    case malformed = 1
    case unknownChannel = 2
    case channelExists = 3
    /// No such type of channel, or no such packet type on a channel of its type.
    case invalidType = 4
    case notAuthenticated = 5
    /// The session must prove its user again.
    case challenged = 6
    /// A frame, a message, or all unfinished messages of a connection together.
    case tooLarge = 7
    case banned = 8
}
