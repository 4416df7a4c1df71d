import Fixtures
import Testing

@testable import Traces

@Suite("A traceparent")
struct TraceParentTests {
    private static let usual = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test("is read in the form of the specification, and written as it was read")
    func read() throws {
        let parent = try #require(TraceParent(Self.usual))
        #expect(parent.traceID.description == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(parent.spanID == 0x00F0_67AA_0BA9_02B7 && parent.isSampled)
        #expect(parent.description == Self.usual)
        let quiet = try #require(TraceParent("00-00000000000000000000000000000001-0000000000000001-00"))
        #expect(!quiet.isSampled && quiet.description == "00-00000000000000000000000000000001-0000000000000001-00")
        // Flags that are not known are not passed on; a later version may say more.
        #expect(TraceParent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff")?.description == Self.usual)
        for later in ["cc" + Self.usual.dropFirst(2), "01" + Self.usual.dropFirst(2) + "-what-ever"] {
            #expect(TraceParent(later)?.description == Self.usual)
        }
    }

    @Test("of any other form is none")
    func refused() {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        for text in [
            "", "00", Self.usual + "-", Self.usual + "0", Self.usual + "-00", String(Self.usual.dropLast()),
            " " + Self.usual,
            Self.usual + ", " + Self.usual, Self.usual.uppercased(), "ff" + Self.usual.dropFirst(2),
            "01" + Self.usual.dropFirst(2) + ".x", "00-\(String(repeating: "0", count: 32))-00f067aa0ba902b7-01",
            "00-\(trace)-0000000000000000-01", "00-\(trace)-00f067aa0ba902bg-01", "00_\(trace)-00f067aa0ba902b7-01",
            "0x-\(trace)-00f067aa0ba902b7-01", "00-\(trace)-00f067aa0ba902b7-0x", "00-\(trace)\n00f067aa0ba902b7-01",
            "00-４bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", String(repeating: "0", count: 100_000),
        ] { #expect(TraceParent(text) == nil, "\(text.prefix(80))") }
    }

    @Test("that was mutilated is read as what a strict expression takes, or not at all")
    func fuzz() {
        var random = SeededRandom(seed: 0x7472_6163)
        let form = /(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}/
        var read = 0
        for _ in 0..<20_000 {
            var bytes = Array(Self.usual.utf8)
            for _ in 0..<Int.random(in: 0..<3, using: &random) {
                let place = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &random)
                case 1: bytes[place] = Array("0123456789abcdefF-".utf8)[Int.random(in: 0..<18, using: &random)]
                case 2: bytes.insert(UInt8(ascii: "0"), at: place)
                default: bytes.remove(at: place)
                }
            }
            let text = String(decoding: bytes, as: UTF8.self)
            let isLater = !text.hasPrefix("00") && text.utf8.count > 55 && Array(text.utf8)[55] == UInt8(ascii: "-")
            let start = isLater ? String(text.prefix(55)) : text
            let parent = TraceParent(text)
            #expect((parent != nil) == (start.wholeMatch(of: form) != nil), "\(text.debugDescription)")
            if let parent {
                read += 1
                #expect(parent.description.dropFirst(2).dropLast(2) == start.dropFirst(2).dropLast(2))
            }
        }
        #expect(read > 5000 && read < 19_000)
    }
}
