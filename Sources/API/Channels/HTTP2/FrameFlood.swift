import NIOCore

/// Counts the frames of an HTTP/2 connection that carry no request: 1,000 in 5 s, and two for each frame and each
/// 512 bytes that the service sends, because a peer may extend two windows for them. The library limits some kinds
/// (PING, SETTINGS, PRIORITY, RST_STREAM, empty DATA). This limit holds for all, also for WINDOW_UPDATE and unknown
/// kinds.
///
/// It also knows whether the peer is in the middle of a frame, or between the frames of a header block.
struct FrameFlood {
    private static let maximum = 1000
    private static let window: UInt64 = 5_000_000_000
    /// Length, type, flags and stream (RFC 9113 §4.1).
    private static let headerLength = 9
    /// DATA, HEADERS and CONTINUATION (RFC 9113 §6).
    private static let carriers: Set<UInt8> = [0, headers, continuation]
    private static let headers: UInt8 = 1
    private static let continuation: UInt8 = 9
    /// END_HEADERS (RFC 9113 §6.2, §6.10).
    private static let endHeaders: UInt8 = 4

    /// The bytes until the next frame begins: first the client's preface (RFC 9113 §3.4).
    private var skipped = 24
    /// The bytes of a frame's header so far: how many, its payload's length, and its type.
    private var header: (count: Int, length: Int, type: UInt8, flags: UInt8) = (0, 0, 0, 0)
    private var count = 0
    private var since: UInt64 = 0
    /// Whether a header block goes on in the next frame (RFC 9113 §4.3).
    private var isInBlock = false
    /// How many frames and header blocks have arrived as a whole, and the preface.
    private(set) var whole: UInt64 = 0
    /// Whether something has arrived in part.
    var isPartial: Bool { skipped > 0 || header.count > 0 || isInBlock }

    /// Reads the next bytes of the peer.
    ///
    /// - Parameter now: nanoseconds of a monotonic clock.
    /// - Returns: whether the connection must end.
    mutating func receive(_ bytes: ByteBufferView, at now: UInt64) -> Bool {
        if now < since || now - since >= Self.window { (count, since) = (0, now) }
        var rest = bytes[...]
        while !rest.isEmpty {
            if skipped > 0 {
                let taken = min(skipped, rest.count)
                skipped -= taken
                if skipped == 0 { endFrame() }
                rest = rest.dropFirst(taken)
                continue
            }
            guard let byte = rest.popFirst() else { break }
            if header.count < 3 { header.length = header.length << 8 | Int(byte) }
            if header.count == 3 { header.type = byte }
            if header.count == 4 { header.flags = byte }
            header.count += 1
            guard header.count == Self.headerLength else { continue }
            if header.length == 0 || !Self.carriers.contains(header.type) { count += 1 }
            if header.type == Self.headers || header.type == Self.continuation {
                isInBlock = header.flags & Self.endHeaders == 0
            }
            skipped = header.length
            header = (0, 0, 0, 0)
            if skipped == 0 { endFrame() }
        }
        return count > Self.maximum
    }

    private mutating func endFrame() {
        if !isInBlock { whole &+= 1 }
    }

    /// The service sends a frame of this many bytes.
    mutating func send(_ length: Int) { count = max(count - 2 - length / 256, -100 * Self.maximum) }
}
