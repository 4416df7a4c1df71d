import Foundation
import Testing

@testable import API

@Suite("STUN requests")
struct BindingRequestTests {
    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.filter { !$0.isWhitespace })
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(digits[$0...$0 + 1]), radix: 16)
        }
    }

    /// RFC 5769 §2.1: a request of ICE with every attribute, and a fingerprint.
    private static let sample = bytes(
        """
        000100582112a442b7e7a701bc34d686fa87dfae802200105354554e207465737420636c69656e74002400046e0001ff80290008932ff9b151
        263b36000600096576746a3a68367659202020000800149aeaa70cbfd8cb56781ef2b5b2d3f249c1b571a280280004e57a3bcf
        """)
    /// A request without any.
    private static let bare = bytes("000100002112a442") + [UInt8](1...12)

    @Test("are read as RFC 5769 writes them, fingerprint and all")
    func standard() throws {
        let request = try #require(BindingRequest(Self.sample))
        #expect(request.transaction == Self.bytes("b7e7a701bc34d686fa87dfae"))
        #expect(request.unknown.isEmpty && request.hasFingerprint)
        // RFC 5769 §2.2: the address of its answer, 192.0.2.1 port 32853.
        let answer = request.answer(to: [192, 0, 2, 1], port: 32_853)
        #expect(Array(answer[20..<32]) == Self.bytes("002000080001a147e112a643"))
        #expect(Array(answer[..<4]) == [1, 1, 0, 20] && Array(answer[4..<20]) == Array(Self.sample[4..<20]))
        // §2.3: 2001:db8:1234:5678:11:2233:4455:6677, the same port.
        let six = request.answer(to: Self.bytes("20010db8123456780011223344556677"), port: 32_853)
        #expect(Array(six[20..<44]) == Self.bytes("002000140002a1470113a9faa5d3f179bc25f4b5bed2b9d9"))
        #expect(Array(six.suffix(4)) == BindingRequest.fingerprint(of: six[..<(six.count - 8)]))
    }

    @Test("get an answer that is no larger than one and a half times the packet, whatever they hold")
    func amplification() throws {
        let unknown: [UInt8] = (1...20).flatMap { [0x7F, $0, 0, 0] }
        for body in [[], Self.bytes("7f010000"), unknown] {
            let count = UInt8(body.count)
            let request = try #require(BindingRequest([0, 1, 0, count] + Self.bare[4...] + body))
            for (address, header) in [([UInt8](repeating: 9, count: 4), 28), ([UInt8](repeating: 9, count: 16), 48)] {
                let answer = request.answer(to: address, port: 1)
                #expect(Double(answer.count + header) <= 1.5 * Double(20 + body.count + header))
                #expect(answer[0...1] == (body.isEmpty ? [1, 1] : [1, 17]))
                #expect(Int(answer[2]) << 8 + Int(answer[3]) == answer.count - 20)
            }
            #expect(request.unknown.count <= 4)
        }
    }

    @Test("are none if anything is wrong with them")
    func malformed() {
        #expect(BindingRequest(Self.bare) != nil)
        for length in 0..<Self.sample.count { #expect(BindingRequest(Array(Self.sample[..<length])) == nil) }
        #expect(BindingRequest(Self.sample + [0, 0, 0, 0]) == nil)
        for (place, value) in [(0, 0x01), (0, 0x80), (1, 0x03), (1, 0x11), (3, 0x5C), (4, 0x20), (21, 0xFF), (107, 0)] {
            var bytes = Self.sample
            bytes[place] = UInt8(value)
            #expect(BindingRequest(bytes) == nil, "\(place)")
        }
        // Behind the fingerprint nothing may be.
        var late = Self.sample + Self.bytes("80220000")
        late[3] = 0x5C
        #expect(BindingRequest(late) == nil)
        #expect(BindingRequest([UInt8](repeating: 0, count: 4096)) == nil)
    }

    @Test("of any bytes are read to their end, or are none")
    func mutations() {
        var generator = SystemRandomNumberGenerator()
        var read = 0
        for _ in 0..<100_000 {
            var bytes = Bool.random(using: &generator) ? Self.sample : Self.bare + Self.bytes("00060004aabbccdd")
            if bytes.count == 28 { bytes[3] = 8 }
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            guard let request = BindingRequest(bytes) else { continue }
            read += 1
            #expect(request.transaction.count == 12 && request.answer(to: [1, 2, 3, 4], port: 5).count <= 60)
        }
        #expect(read > 1000)
    }

    @Test("of one network are answered so often in a second, and of others in the same second, too")
    func rate() {
        var rate = DatagramRate()
        func admitted(_ address: [UInt8], _ second: Int64) -> Int {
            (0..<100).count { _ in rate.admits(address, at: second) }
        }
        #expect(admitted([192, 0, 2, 1], 7) == 20 && admitted([192, 0, 2, 1], 7) == 0)
        // The same /64.
        #expect(admitted([UInt8](repeating: 1, count: 16), 7) == 20)
        #expect(admitted([UInt8](repeating: 1, count: 8) + [UInt8](repeating: 2, count: 8), 7) == 0)
        // Other networks of the same /56, and of the same /48.
        let (wide, wider) = ([UInt8](repeating: 1, count: 7), [UInt8](repeating: 1, count: 6))
        let rest = [UInt8](repeating: 0, count: 8)
        #expect((2..<9).map { admitted(wide + [$0] + rest, 7) }.reduce(0, +) == 20)
        #expect((2..<30).map { admitted(wider + [$0, 0] + rest, 7) }.reduce(0, +) == 120)
        let others = (0..<100).count { admitted([10, 0, 0, $0], 7) == 20 }
        #expect(others >= 95)
        #expect(admitted([192, 0, 2, 1], 8) == 20)
    }
}
