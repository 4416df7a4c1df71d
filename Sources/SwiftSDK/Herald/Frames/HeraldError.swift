/// Why a control frame failed, or why the service ends a connection: the number in a response frame.
public enum HeraldError: UInt8, Error, Sendable, CaseIterable {
    /// The bytes are not a valid frame or not a valid Thrift message.
    case malformed = 1
    case unknownChannel = 2
    case channelExists = 3
    /// The type of a channel is unknown, or the packet type is not one of its channel.
    case invalidType = 4
    case notAuthenticated = 5
    /// The session must prove its user again.
    case challenged = 6
    /// A frame or a message is too large, or all unfinished messages together are.
    case tooLarge = 7
    case banned = 8
}
