import NIOCore
import Testing

@testable import API

@Suite("The frames of an HTTP/2 connection")
struct FrameFloodTests {
    private static let preface = ByteBuffer(string: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")

    private static func frame(_ type: UInt8, _ length: Int) -> [UInt8] {
        [UInt8(length >> 16), UInt8(length >> 8 & 0xff), UInt8(length & 0xff), type, 0, 0, 0, 0, 1]
            + [UInt8](repeating: 9, count: length)
    }

    /// The number of frames after which a connection ends; `nil` if it never does.
    private static func end(of frames: [[UInt8]], pieces: Int? = nil, sending: Int? = nil, at now: UInt64 = 1) -> Int? {
        var flood = FrameFlood()
        #expect(flood.receive(preface.readableBytesView, at: now) == false)
        for (index, frame) in frames.enumerated() {
            var rest = frame[...]
            while !rest.isEmpty {
                let piece = rest.prefix(pieces ?? rest.count)
                rest = rest.dropFirst(piece.count)
                if flood.receive(ByteBuffer(bytes: piece).readableBytesView, at: now) { return index + 1 }
            }
            if let sending { flood.send(sending) }
        }
        return nil
    }

    @Test(
        "without a request are a thousand in five seconds, whatever their kind",
        arguments: Array(UInt8.min...12) + [0x7f, 0xfe])
    func kinds(type: UInt8) {
        for length in [0, 4, 300] {
            let carries = [0, 1, 9].contains(type) && length > 0
            let frames = [[UInt8]](repeating: Self.frame(type, length), count: 1100)
            #expect(Self.end(of: frames) == (carries ? nil : 1001), "\(length) bytes")
        }
    }

    @Test("are counted wherever the network divides them")
    func pieces() {
        let frames = [[UInt8]](repeating: Self.frame(8, 4), count: 1100)
        for size in 1...14 { #expect(Self.end(of: frames, pieces: size) == 1001) }
        let all = frames.flatMap { $0 }
        #expect(Self.end(of: [all], pieces: 997) == 1)
        #expect(Self.end(of: [all]) == 1)
    }

    @Test("may extend the windows for each frame that the service sends")
    func answers() {
        let updates = Self.frame(8, 4) + Self.frame(8, 4)
        #expect(Self.end(of: [[UInt8]](repeating: updates, count: 5000), sending: 0) == nil)
        // A client that counts each 4 KiB of a frame of 16 KiB.
        let more = [[UInt8]](repeating: updates, count: 4).flatMap { $0 }
        #expect(Self.end(of: [[UInt8]](repeating: more, count: 5000), sending: 16_393) == nil)
    }

    @Test("may be a thousand again after five seconds")
    func later() {
        var flood = FrameFlood()
        #expect(flood.receive(Self.preface.readableBytesView, at: 1) == false)
        let frames = ByteBuffer(bytes: [[UInt8]](repeating: Self.frame(8, 4), count: 1000).flatMap { $0 })
        #expect(flood.receive(frames.readableBytesView, at: 1) == false)
        #expect(flood.receive(frames.readableBytesView, at: 5_000_000_001) == false)
        #expect(flood.receive(frames.readableBytesView, at: 5_000_000_002) == true)
    }
}
