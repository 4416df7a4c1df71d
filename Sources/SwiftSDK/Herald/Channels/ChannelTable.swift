/// The purpose of a channel (source table 23).
public enum ChannelKind: UInt8, Sendable, CaseIterable {
    /// From the service to the client: notices that there is something to synchronize.
    case push
    /// Calls of the client and their answers.
    case rpc
}

/// The packet types, each of one kind of channel (source table 34).
public enum PacketType {
    /// A call or its answer, on an RPC channel.
    public static let normalizedMessage: UInt8 = 0
    /// There is something to synchronize, on a push channel. It has no payload.
    public static let synchronizationRequest: UInt8 = 2
}

/// The open channels of a connection, and its unfinished messages.
public struct ChannelTable: Sendable {
    private struct Channel {
        let kind: ChannelKind
        let instance: UInt64
        var unfinished: [UInt8] = []
        var total: UInt32 = 0
        var began: UInt64 = 0
    }

    private let limits: Limits
    private var channels: [UInt8: Channel] = [:]
    private var instances: UInt64 = 0
    /// The size of all unfinished messages, in bytes.
    public private(set) var unfinished = 0

    init(limits: Limits) { self.limits = limits }

    /// Opens a channel.
    ///
    /// - Throws: ``HeraldError`` `channelExists`, `invalidType`.
    mutating func add(_ id: UInt8, type: UInt8) throws(HeraldError) {
        guard let kind = ChannelKind(rawValue: type) else { throw .invalidType }
        guard channels[id] == nil else { throw .channelExists }
        instances &+= 1
        channels[id] = Channel(kind: kind, instance: instances)
    }

    /// Closes a channel.
    ///
    /// - Throws: ``HeraldError`` `unknownChannel`.
    mutating func remove(_ id: UInt8) throws(HeraldError) {
        guard let channel = channels.removeValue(forKey: id) else { throw .unknownChannel }
        unfinished -= channel.unfinished.count
    }

    mutating func removeAll() {
        channels = [:]
        unfinished = 0
    }

    /// Adds a part of a message. Returns the message if this was the last part.
    ///
    /// - Parameter now: on a monotonic clock.
    /// - Throws: ``HeraldError`` `unknownChannel`, `invalidType`, `malformed`, `tooLarge`. The connection must end.
    mutating func add(_ frame: DataFrame, at now: UInt64) throws(HeraldError) -> Message? {
        guard var channel = channels[frame.channel] else { throw .unknownChannel }
        guard channel.kind == .rpc, frame.packet == PacketType.normalizedMessage else { throw .invalidType }
        guard frame.total <= limits.message else { throw .tooLarge }
        if channel.unfinished.isEmpty { (channel.total, channel.began) = (frame.total, now) }
        let held = channel.unfinished.count
        guard frame.total == channel.total, frame.payload.count <= Int(frame.total) - held,
            !frame.payload.isEmpty || frame.total == 0
        else { throw .malformed }
        if held == 0, frame.payload.count == Int(frame.total) {
            return Message(channel: frame.channel, instance: channel.instance, payload: frame.payload)
        }
        guard unfinished + frame.payload.count <= limits.unfinished else { throw .tooLarge }
        // Only one reference to the bytes, so that appending does not copy them.
        channels[frame.channel] = nil
        channel.unfinished += frame.payload
        unfinished += frame.payload.count
        var message: Message?
        if channel.unfinished.count == Int(frame.total) {
            unfinished -= channel.unfinished.count
            message = Message(channel: frame.channel, instance: channel.instance, payload: channel.unfinished)
            channel.unfinished = []
        }
        channels[frame.channel] = channel
        return message
    }
}

public extension ChannelTable {
    struct Limits: Sendable {
        let message: Int
        /// The largest size of all unfinished messages together, in bytes.
        let unfinished: Int

        public init(message: Int, unfinished: Int) { (self.message, self.unfinished) = (message, unfinished) }
    }

    /// A message whose parts have all come.
    struct Message: Sendable, Equatable {
        public let channel: UInt8
        /// Distinguishes channels that had this number one after the other.
        public let instance: UInt64
        public let payload: [UInt8]

        public init(channel: UInt8, instance: UInt64, payload: [UInt8]) {
            (self.channel, self.instance, self.payload) = (channel, instance, payload)
        }
    }

    var oldestUnfinished: UInt64? {
        unfinished == 0 ? nil : channels.values.filter { !$0.unfinished.isEmpty }.map(\.began).min()
    }

    var pushChannels: [UInt8] { channels.filter { $1.kind == .push }.keys.sorted() }

    /// Whether a channel is still the one on which a message came.
    func isOpen(_ channel: UInt8, _ instance: UInt64) -> Bool { channels[channel]?.instance == instance }
}
