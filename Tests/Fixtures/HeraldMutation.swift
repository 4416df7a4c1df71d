import Herald

/// Bends frames and calls of Herald at random, the same way for the same seed, and holds their readers to what they
/// promise: what is read is written the same, everything else is refused, and nothing grows beyond its bounds.
package struct HeraldMutation: Sendable {
    /// A promise that was broken, with the bytes that did it.
    package struct Broken: Error, CustomStringConvertible {
        package let description: String
    }

    package enum Outcome: Sendable {
        case read, refused
    }

    /// What a reader is given.
    package enum Input: Sendable {
        /// In two pieces, as a network delivers them.
        case frames([UInt8], middle: Int)
        case message([UInt8])

        /// How many bytes it has.
        package var size: Int {
            switch self {
            case .frames(let bytes, _), .message(let bytes): bytes.count
            }
        }

        /// Which reader takes it.
        package var kind: String {
            switch self {
            case .frames: "frames"
            case .message: "message"
            }
        }
    }

    private static let limits = ChannelTable.Limits(message: 256, unfinished: 512)
    private static let maximumFrame = 128

    private var random: SeededRandom

    package init(seed: UInt64) { random = SeededRandom(seed: seed) }

    private mutating func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &random) }

    private mutating func noise(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in .random(in: 0...255, using: &random) }
    }

    /// A frame as a client or the service may send it.
    package mutating func frame() -> Frame {
        let channel = UInt8(number(0...3))
        switch number(0...9) {
        case 0: return .authenticate(token: noise(number(0...40)))
        case 1: return .addChannel(channel, type: UInt8(number(0...3)))
        case 2: return .deleteChannel(channel)
        case 3: return .response(HeraldError.allCases.randomElement(using: &random))
        case 4: return .response(nil)
        case 5: return .keepalive
        default:
            let payload = noise(number(0...40))
            return .data(
                DataFrame(
                    packet: number(0...9) == 0 ? 2 : 0, channel: channel,
                    total: UInt32(number(0...3) == 0 ? number(0...300) : payload.count), payload: payload))
        }
    }

    /// A value as deep as the reader takes it, or a little deeper.
    package mutating func value(_ depth: Int = 0) -> ThriftValue {
        switch number(0...(depth > 17 ? 6 : 10)) {
        case 0: return .bool(number(0...1) == 1)
        case 1: return .i8(Int8(number(-128...127)))
        case 2: return .i16(Int16(number(-32768...32767)))
        case 3: return .i32(.random(in: .min ... .max, using: &random))
        case 4: return .i64(.random(in: .min ... .max, using: &random))
        case 5: return .double(Double(number(-1000...1000)) / 8)
        case 6: return .bytes(noise(number(0...20)))
        case 7: return .list(.i32, (0..<number(0...4)).map { .i32(Int32($0)) })
        case 8: return .set(.bytes, (0..<number(0...3)).map { .text("\($0)") })
        case 9: return .map(.bytes, .bool, (0..<number(0...2)).flatMap { [.text("\($0)"), .bool(true)] })
        default: return .structure((0..<number(0...3)).map { ThriftField(Int16($0 + 1), value(depth + 1)) })
        }
    }

    package mutating func message() -> ThriftMessage {
        ThriftMessage(
            ThriftMessage.Kind.allCases.randomElement(using: &random) ?? .call, name: "f\(number(0...9))",
            sequence: .random(in: .min ... .max, using: &random),
            body: (0..<number(0...3)).map { ThriftField(Int16($0), value()) })
    }

    /// Some bytes are changed, cut out or put in; now and then none.
    private mutating func bent(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<number(0...3) where !bytes.isEmpty {
            let place = number(0...bytes.count - 1)
            switch number(0...3) {
            case 0: bytes[place] = .random(in: 0...255, using: &random)
            case 1: bytes[place] ^= 1 << UInt8(number(0...7))
            case 2: bytes.remove(at: place)
            default: bytes.insert(.random(in: 0...255, using: &random), at: place)
            }
        }
        return bytes
    }

    /// One round: a few frames, or one message.
    package mutating func round() throws(Broken) -> Outcome { try Self.read(input()) }

    /// What is read in one round.
    package mutating func input() -> Input {
        guard number(0...1) == 0 else { return .message(bent(message().bytes)) }
        let bytes = bent((0..<number(1...6)).flatMap { _ in frame().bytes })
        return .frames(bytes, middle: number(0...bytes.count))
    }

    /// Reads an input, and looks at every promise.
    package static func read(_ input: Input) throws(Broken) -> Outcome {
        switch input {
        case .frames(let bytes, let middle): try frames(bytes, middle: middle)
        case .message(let bytes): try message(bytes)
        }
    }

    private static func frames(_ bytes: [UInt8], middle: Int) throws(Broken) -> Outcome {
        var reader = FrameReader(maximumFrame: maximumFrame)
        var state = HeraldState(limits: limits)
        state.begin()
        _ = state.authenticated(nil)
        _ = state.receive(.addChannel(0, type: 1), at: 0)
        var place = 0
        for piece in [bytes[..<middle], bytes[middle...]] {
            reader.append(Array(piece))
            while true {
                let frame: Frame?
                do throws(HeraldError) { frame = try reader.frame() } catch { return .refused }
                guard let frame else { break }
                let written = frame.bytes
                guard bytes[place...].starts(with: written) else {
                    throw Broken(description: "\(frame) of \(bytes) is written as \(written)")
                }
                place += written.count
                _ = state.receive(frame, at: UInt64(place))
                guard state.channels.unfinished <= 512 else { throw Broken(description: "unfinished after \(bytes)") }
            }
        }
        guard place + reader.count == bytes.count else { throw Broken(description: "bytes are lost of \(bytes)") }
        return .read
    }

    private static func message(_ bytes: [UInt8]) throws(Broken) -> Outcome {
        do {
            let message = try ThriftReader.message(bytes)
            let again = try ThriftReader.message(message.bytes)
            // NaN is not equal to itself: the bytes are compared.
            guard again.bytes == message.bytes, message.bytes.count >= bytes.count else {
                throw Broken(description: "\(message) of \(bytes)")
            }
            let interface = ThriftInterface.herald
            for function in interface.functions.values { _ = interface.members(message.body, as: function.arguments) }
            return .read
        } catch let error as Broken {
            throw error
        } catch {
            return .refused
        }
    }
}
