import Fixtures
import Herald
import Testing

@Suite("Frames of Herald")
struct FrameTests {
    @Test(
        "stand on the wire as the tables of the protocol have them",
        arguments: [
            (Frame.authenticate(token: [0x61, 0x62]), [0, 0, 0, 3, 0x00, 0x61, 0x62]),
            (.addChannel(7, type: 0), [0, 0, 0, 2, 0x04, 7]), (.addChannel(254, type: 1), [0, 0, 0, 2, 0x05, 254]),
            (.deleteChannel(7), [0, 0, 0, 2, 0x08, 7]),
            (
                .data(DataFrame(packet: 2, channel: 3, total: 258, payload: [9, 8])),
                [0, 0, 0, 8, 0x42, 3, 0, 0, 1, 2, 9, 8]
            ),
            (.response(nil), [0, 0, 0, 1, 0x80]), (.response(.challenged), [0, 0, 0, 1, 0xA6]),
            (.keepalive, [0, 0, 0, 1, 0xC0]),
        ] as [(Frame, [UInt8])])
    func wire(frame: Frame, bytes: [UInt8]) throws {
        #expect(frame.bytes == bytes)
        var reader = FrameReader(maximumFrame: 64)
        for byte in bytes.dropLast() {
            reader.append([byte])
            #expect(try reader.frame() == nil)
        }
        reader.append([bytes.last ?? 0] + Frame.keepalive.bytes)
        #expect(try reader.frame() == frame)
        #expect(try reader.frame() == .keepalive)
        #expect(reader.count == 0)
    }

    @Test(
        "are refused where they are none",
        arguments: [
            ([0, 0, 0, 0], .malformed), ([0, 0, 1, 0], .tooLarge), ([255, 255, 255, 255], .tooLarge),
            ([0, 0, 0, 61], .tooLarge), ([0, 0, 0, 1, 0x04], .malformed), ([0, 0, 0, 2, 0x04, 255], .malformed),
            ([0, 0, 0, 3, 0x04, 1, 1], .malformed), ([0, 0, 0, 2, 0x09, 1], .malformed),
            ([0, 0, 0, 1, 0x08], .malformed),
            ([0, 0, 0, 2, 0x01, 1], .malformed), ([0, 0, 0, 1, 0x0C], .malformed), ([0, 0, 0, 1, 0x3C], .malformed),
            ([0, 0, 0, 5, 0x40, 0, 0, 0, 0], .malformed), ([0, 0, 0, 6, 0x40, 255, 0, 0, 0, 0], .malformed),
            ([0, 0, 0, 1, 0x81], .malformed), ([0, 0, 0, 1, 0xA0], .malformed), ([0, 0, 0, 1, 0xA9], .malformed),
            ([0, 0, 0, 2, 0x80, 0], .malformed), ([0, 0, 0, 1, 0xC1], .malformed), ([0, 0, 0, 2, 0xC0, 0], .malformed),
        ] as [([UInt8], HeraldError)])
    func refused(bytes: [UInt8], error: HeraldError) {
        var reader = FrameReader(maximumFrame: 64)
        reader.append(bytes)
        #expect(throws: error) { try reader.frame() }
    }

    @Test("begin with the word, the version and a size; whatever is wrong is seen with its first byte")
    func initial() throws {
        let whole = Array("LAYER".utf8) + [1, 1, 0, 0, 64, 0]
        #expect(InitialFrame(frameSize: 16384).bytes == whole)
        var reader = FrameReader(maximumFrame: 64)
        reader.append(whole + [0])
        #expect(try reader.initialFrame() == InitialFrame(frameSize: 16384))
        #expect(reader.count == 1)
        for place in whole.indices {
            var one = FrameReader(maximumFrame: 64)
            one.append(Array(whole.prefix(place)))
            #expect(try one.initialFrame() == nil)
            guard place < 7 else { continue }
            one.append([whole[place] ^ 0x20])
            #expect(throws: HeraldError.malformed) { try one.initialFrame() }
        }
        for size in [0, 1, 15] as [UInt32] {
            var one = FrameReader(maximumFrame: 64)
            one.append(InitialFrame(frameSize: size).bytes)
            #expect(throws: HeraldError.malformed) { try one.initialFrame() }
        }
    }

    @Test("of several channels leave in turn, answers to control frames first, none larger than the client takes")
    func turns() throws {
        var writer = FrameWriter(maximumFrame: 20)
        writer.write([UInt8](repeating: 1, count: 25), packet: 0, on: 1)
        writer.write([UInt8](repeating: 2, count: 15), packet: 0, on: 2)
        writer.write([3], packet: 0, on: 1)
        writer.write([], packet: 2, on: 3)
        writer.write(.response(nil))
        #expect(writer.count == 46)
        var reader = FrameReader(maximumFrame: 20)
        var frames: [Frame] = []
        while !writer.isEmpty {
            reader.append(writer.next(1))
            while let frame = try reader.frame() { frames.append(frame) }
        }
        #expect(writer.count == 0)
        #expect(frames.first == .response(nil))
        let data = frames.dropFirst().map { frame -> [Int] in
            guard case .data(let data) = frame else { return [] }
            return [Int(data.channel), Int(data.total), data.payload.count]
        }
        #expect(
            data == [
                [1, 25, 10], [2, 15, 10], [3, 0, 0], [1, 25, 10], [2, 15, 5], [1, 25, 5], [1, 1, 1],
            ])
    }

    @Test("of a channel that is closed leave no more")
    func dropped() {
        var writer = FrameWriter(maximumFrame: 20)
        writer.write([UInt8](repeating: 1, count: 25), packet: 0, on: 1)
        writer.write([2], packet: 0, on: 2)
        _ = writer.next(1)
        #expect(writer.holds(1) && writer.count == 16)
        writer.drop(1)
        #expect(!writer.holds(1) && writer.count == 1)
        writer.write(.keepalive)
        writer.dropAll()
        #expect(writer.count == 5)
        #expect(writer.next(100) == Frame.keepalive.bytes)
        #expect(writer.isEmpty)
    }

    @Test(
        "and calls, bent at random, are read and written the same, or refused",
        arguments: 1...UInt64(Soak.count(2, soak: 10)))
    func mutations(seed: UInt64) throws {
        var mutation = HeraldMutation(seed: seed)
        var (read, refused) = (0, 0)
        for _ in 0..<10_000 {
            switch try mutation.round() {
            case .read: read += 1
            case .refused: refused += 1
            }
        }
        #expect(read > 2000 && refused > 2000)
    }
}
