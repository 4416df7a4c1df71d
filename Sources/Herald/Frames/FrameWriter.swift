/// Frames that wait to leave: first what answers control frames, then the messages of all channels, a frame of each in
/// turn, so that a long one delays no other.
package struct FrameWriter: Sendable {
    private struct Message {
        let packet: UInt8
        let payload: [UInt8]
        var sent = 0
    }

    private let maximumPayload: Int
    private var control: [UInt8] = []
    private var messages: [UInt8: [Message]] = [:]
    /// Channels that have something to send, the next one first.
    private var turns: [UInt8] = []
    /// Bytes that wait, without the fields of data frames.
    package private(set) var count = 0

    /// - Parameter maximumFrame: bytes of the largest frame, its size field included.
    package init(maximumFrame: Int) { maximumPayload = max(1, maximumFrame - DataFrame.overhead) }

    package var isEmpty: Bool { control.isEmpty && turns.isEmpty }

    /// Whether a message of a channel waits, whole or in part.
    package func holds(_ channel: UInt8) -> Bool { messages[channel] != nil }

    /// Adds a frame that goes ahead of all messages.
    package mutating func write(_ frame: Frame) {
        let bytes = frame.bytes
        control += bytes
        count += bytes.count
    }

    /// Adds a message.
    package mutating func write(_ payload: [UInt8], packet: UInt8, on channel: UInt8) {
        if messages[channel] == nil { turns.append(channel) }
        messages[channel, default: []].append(Message(packet: packet, payload: payload))
        count += payload.count
    }

    /// Forgets what waits on a channel.
    package mutating func drop(_ channel: UInt8) {
        for message in messages[channel] ?? [] { count -= message.payload.count - message.sent }
        messages[channel] = nil
        turns.removeAll { $0 == channel }
    }

    /// Forgets what waits on all channels.
    package mutating func dropAll() {
        (messages, turns, count) = ([:], [], control.count)
    }

    /// The next frames, until they are so many bytes or more; empty where nothing waits.
    package mutating func next(_ length: Int) -> [UInt8] {
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
