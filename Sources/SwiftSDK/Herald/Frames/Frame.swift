/// One frame after the initial one (source tables 25 to 33).
///
/// On the wire: PAYLOAD_SIZE, 4 bytes, the size of the rest, header byte included. Then the header byte, 2 bits of type
/// and 6 bits that depend on it. Then the payload. Numbers are big-endian.
public enum Frame: Sendable, Equatable {
    /// Control, OP 0: the rest of the payload is the token of a session.
    case authenticate(token: [UInt8])
    /// Control, OP 1. The type is the 2 bits of the header, valid or not.
    case addChannel(UInt8, type: UInt8)
    /// Control, OP 2: closes a channel.
    case deleteChannel(UInt8)
    case data(DataFrame)
    /// The result of the oldest unanswered control frame; `nil` is success.
    case response(HeraldError?)
    case keepalive

    /// The number of bytes of PAYLOAD_SIZE.
    static let sizeLength = 4

    /// Parses a header byte and the rest of its frame.
    ///
    /// - Throws: ``HeraldError`` `malformed`.
    init(head: UInt8, payload: ArraySlice<UInt8>) throws(HeraldError) {
        let extended = head & 0x3F
        switch Kind(rawValue: head >> 6) {
        case .control: self = try Self.control(extended, payload)
        case .data:
            guard payload.count >= DataFrame.fieldsLength, let channel = payload.first, channel <= Self.lastChannel
            else {
                throw .malformed
            }
            self = .data(
                DataFrame(
                    packet: extended, channel: channel, total: UInt32(bigEndian: payload.dropFirst().prefix(4)),
                    payload: Array(payload.dropFirst(DataFrame.fieldsLength))))
        case .response:
            guard payload.isEmpty else { throw .malformed }
            if extended == 0 {
                self = .response(nil)
            } else {
                guard extended & 0x20 != 0, let error = HeraldError(rawValue: extended & 0x1F) else { throw .malformed }
                self = .response(error)
            }
        case .keepalive:
            guard extended == 0, payload.isEmpty else { throw .malformed }
            self = .keepalive
        case nil: throw .malformed
        }
    }
}

public extension Frame {
    /// The last number that a channel may have.
    static let lastChannel: UInt8 = 254

    private enum Kind: UInt8 {
        case control, data, response, keepalive
    }

    private enum Operation: UInt8 {
        case authenticate, addChannel, deleteChannel
    }

    var bytes: [UInt8] {
        switch self {
        case .authenticate(let token): Self.frame(.control, Operation.authenticate.rawValue << 2, token)
        case .addChannel(let id, let type): Self.frame(.control, Operation.addChannel.rawValue << 2 | type & 3, [id])
        case .deleteChannel(let id): Self.frame(.control, Operation.deleteChannel.rawValue << 2, [id])
        case .data(let data):
            Self.frame(.data, data.packet & 0x3F, [data.channel] + data.total.bigEndianBytes + data.payload)
        case .response(nil): Self.frame(.response, 0, [])
        case .response(let error?): Self.frame(.response, 0x20 | error.rawValue, [])
        case .keepalive: Self.frame(.keepalive, 0, [])
        }
    }

    private static func frame(_ kind: Kind, _ extended: UInt8, _ payload: [UInt8]) -> [UInt8] {
        UInt32(clamping: payload.count + 1).bigEndianBytes + [kind.rawValue << 6 | extended] + payload
    }

    private static func control(_ extended: UInt8, _ payload: ArraySlice<UInt8>) throws(HeraldError) -> Frame {
        let type = extended & 3
        switch Operation(rawValue: extended >> 2) {
        case .authenticate where type == 0: return .authenticate(token: Array(payload))
        case .addChannel: return .addChannel(try channel(payload), type: type)
        case .deleteChannel where type == 0: return .deleteChannel(try channel(payload))
        default: throw .malformed
        }
    }

    private static func channel(_ payload: ArraySlice<UInt8>) throws(HeraldError) -> UInt8 {
        guard payload.count == 1, let id = payload.first, id <= lastChannel else { throw .malformed }
        return id
    }
}

public struct DataFrame: Sendable, Equatable {
    /// The number of bytes of CH_ID and TOTAL_SIZE.
    static let fieldsLength = 5
    /// The bytes of a frame on the wire without its payload.
    public static let overhead = Frame.sizeLength + 1 + fieldsLength

    /// The packet type, 6 bits.
    public let packet: UInt8
    public let channel: UInt8
    /// The size of the whole message over all its frames, in bytes.
    public let total: UInt32
    public let payload: [UInt8]

    public init(packet: UInt8, channel: UInt8, total: UInt32, payload: [UInt8]) {
        (self.packet, self.channel, self.total, self.payload) = (packet, channel, total, payload)
    }
}
