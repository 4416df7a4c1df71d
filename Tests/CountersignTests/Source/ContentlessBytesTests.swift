import Fixtures
import Testing

/// A peer that sends bytes without a request, message or datagram to answer costs processor time and never meets a limit
/// of calls. So each place that reads bytes of a peer has a limit of its own for them, and a test of it.
@Suite("Bytes without a request")
struct ContentlessBytesTests {
    /// What bounds them: the name of a test, or the reason why there is no limit.
    private enum Bound {
        case test(String, in: String)
        /// The bytes belong to a connection whose next handler has the limit.
        case passedOn
        /// At most so many bytes are read before the connection ends or is handed on.
        case once
    }

    private static let places: [String: Bound] = [
        "API/Channels/ClearTextHandler.swift": .once,
        "API/Channels/HTTP2/HalfClosedStreamHandler.swift": .test(
            "func kinds", in: "APITests/Channels/FrameFloodTests.swift"),
        "API/Channels/ProxyHeaderHandler.swift": .once,
        "API/Channels/RequestBounds.swift": .passedOn,
        "API/Herald/HeraldHandler.swift": .test("func flood", in: "HeraldTests/HeraldStateTests.swift"),
        "API/STUN/STUNListener.swift": .test("func rate", in: "APITests/STUN/BindingRequestTests.swift"),
    ]

    @Test("are limited wherever bytes of a peer are read")
    func places() throws {
        var found: Set<String> = []
        for target in ["API", "Herald", "Operations", "countersign"] {
            for file in try SourceFile.all(of: target)
            where file.text.contains(
                /typealias InboundIn = (?:ByteBuffer|AddressedEnvelope)|: NIOSingleStepByteToMessageDecoder/)
            {
                found.insert("\(target)/\(file.path)")
            }
        }
        for path in found.subtracting(Self.places.keys) {
            Issue.record("\(path) reads bytes of a peer: limit those that carry no request, and name the test here.")
        }
        #expect(found.isSuperset(of: Self.places.keys), "The list names files that no longer read bytes of a peer.")
        let tests = try SourceFile.all(below: "Tests")
        for case .test(let name, let path) in Self.places.values {
            #expect(tests.contains { $0.path == path && $0.text.contains("\(name)(") }, "\(path) has no \(name)")
        }
    }
}
