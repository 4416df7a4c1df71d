/// Frames that wait to be sent: responses to control frames first, then the messages of all channels. Channels take
/// turns, a frame each, so a long message does not delay the others.
public struct FrameWriter: Sendable {
    private struct Message {
        let packet: UInt8
        let payload: [UInt8]
        var sent = 0
    }

    private let maximumPayload: Int
    private var control: [UInt8] = []
    private var messages: [UInt8: [Message]] = [:]
    /// Channels with messages to send, the next one first.
    private var turns: [UInt8] = []
    /// The number of waiting bytes, without the fields of data frames.
    public private(set) var count = 0
}

public extension FrameWriter {
    /// - Parameter maximumFrame: the largest frame, in bytes, size field included.
    init(maximumFrame: Int) { maximumPayload = max(1, maximumFrame - DataFrame.overhead) }

    var isEmpty: Bool { control.isEmpty && turns.isEmpty }

    /// Whether a channel has an unsent message or part of one.
    func holds(_ channel: UInt8) -> Bool { messages[channel] != nil }

    /// Adds a frame ahead of all messages.
    mutating func write(_ frame: Frame) {
        let bytes = frame.bytes
        control += bytes
        count += bytes.count
    }

    /// Adds a message of a channel, which is split into frames.
    mutating func write(_ payload: [UInt8], packet: UInt8, on channel: UInt8) {
        if messages[channel] == nil { turns.append(channel) }
        messages[channel, default: []].append(Message(packet: packet, payload: payload))
        count += payload.count
    }

    /// Discards a channel's unsent messages.
    mutating func drop(_ channel: UInt8) {
        for message in messages[channel] ?? [] { count -= message.payload.count - message.sent }
        messages[channel] = nil
        turns.removeAll { $0 == channel }
    }

    /// Discards the unsent messages of all channels.
    mutating func dropAll() {
        (messages, turns, count) = ([:], [], control.count)
    }

    /// The next frames, up to at least so many bytes; empty if nothing waits.
    mutating func next(_ length: Int) -> [UInt8] {
        var bytes = control
        count -= control.count
        control = []
        while bytes.count < length, let channel = turns.first {
            turns.removeFirst()
            guard var queue = messages[channel], var message = queue.first else { continue }
            let end = min(message.payload.count, message.sent + maximumPayload)
            bytes +=
                Frame.data(
                    DataFrame(
                        packet: message.packet, channel: channel, total: UInt32(clamping: message.payload.count),
                        payload: Array(message.payload[message.sent..<end]))
                ).bytes
            count -= end - message.sent
            message.sent = end
            if end == message.payload.count { queue.removeFirst() } else { queue[0] = message }
            messages[channel] = queue.isEmpty ? nil : queue
            if !queue.isEmpty { turns.append(channel) }
        }
        return bytes
    }
}
