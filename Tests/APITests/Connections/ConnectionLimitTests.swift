import Domain
import Encoding
import Fixtures
import HTTPTypes
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Operations
import Testing

@testable import API

@Suite("The connections of every listener")
struct ConnectionLimitTests {
    private static var policy: Policy {
        var policy = Policy()
        policy.requests.connectionsPerSender.perAddress = 2
        policy.requests.connectionsPerSender.per56 = 3
        policy.requests.connectionsPerSender.per48 = 4
        policy.requests.connectionsPerCertificate = 2
        return policy
    }

    private func connections(
        of listener: ListenerName, _ fixture: ServiceFixture, _ rateLimiting: RateLimiting = .on
    ) -> ListenerConnections {
        let listeners = Listeners(
            fixture.context(rateLimiting: rateLimiting), maximumConnections: 100, open: OpenChannels(),
            urls: { _ in nil }, logger: Logger(label: "test"))
        return listeners.gate(listener, listeners.limits).accepted
    }

    /// How many of these addresses get in while all are at work.
    private func accepted(_ addresses: [String], by connections: ListenerConnections) -> Int {
        addresses.count { address in
            let activity = connections.insert(EmbeddedChannel(), from: IPAddress(address)?.limitKey)
            activity?.work()
            return activity != nil
        }
    }

    @Test("are limited by address, by /56, by /48 and by certificate", arguments: ListenerName.allCases)
    func limits(listener: ListenerName) async throws {
        try await ServiceFixture.run(Self.policy) { fixture in
            func expectAccepted(_ addresses: [String], _ count: Int, _ rateLimiting: RateLimiting = .on) {
                #expect(accepted(addresses, by: connections(of: listener, fixture, rateLimiting)) == count)
            }
            expectAccepted([String](repeating: "192.0.2.1", count: 5), 2)
            expectAccepted((1...5).map { "2001:db8::\($0)" }, 2)
            expectAccepted((1...5).map { "2001:db8:0:\($0)::1" }, 3)
            expectAccepted((1...5).map { "2001:db8:0:\($0)00::1" }, 4)
            expectAccepted((1...5).map { "2001:db8:\($0)::1" }, 5)
            expectAccepted((1...5).map { "2001:db8:0:\($0)::1" }, 5, .off)
            let bound = connections(of: listener, fixture)
            let certificate = Digest256.of("certificate")
            let channels = (0..<5).map { _ in EmbeddedChannel() }
            #expect(
                channels.count { channel in
                    bound.insert(channel, from: nil)?.work()
                    return bound.bind(channel, to: certificate)
                } == 2)
        }
    }

    /// A connection of HTTP/1.1 behind its decoder.
    private struct Connection {
        let channel = EmbeddedChannel()
        let activity: ConnectionActivity

        init() throws {
            activity = ConnectionActivity(alone: channel)
            try channel.pipeline.syncOperations.addHandler(
                AnswerPaceHandler(
                    timeout: 20, unsent: UnsentBytes(limit: 1 << 20), progress: ConnectionProgress(activity),
                    isStream: false, carrier: ResponseCarrier(.roomy, on: channel)))
            channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        }

        func read(_ part: HTTPRequestPart) throws { try channel.writeInbound(part) }

        func begin() throws {
            try read(.head(.init(method: .post, scheme: "https", authority: "x", path: "/")))
            try read(.body(ByteBuffer(string: "{")))
        }

        func answer() {
            channel.write(HTTPResponsePart.head(.init(status: .ok)), promise: nil)
            channel.write(HTTPResponsePart.body(ByteBuffer(string: "{}")), promise: nil)
            channel.writeAndFlush(HTTPResponsePart.end(nil), promise: nil)
        }

        var word: String {
            switch activity.value {
            case .handshaking: "handshaking"
            case .idle: "idle"
            case .waiting: "waiting"
            case .busy: "busy"
            }
        }
    }

    @Test("wait for their peer until a request has come and while an answer is not taken, and are busy between")
    func turns() throws {
        let connection = try Connection()
        #expect(connection.word == "idle")
        try connection.begin()
        #expect(connection.word == "waiting")
        try connection.read(.end(nil))
        #expect(connection.word == "busy")
        connection.channel.isWritable = false
        connection.answer()
        #expect(connection.word == "waiting")
        connection.channel.isWritable = true
        connection.channel.pipeline.fireChannelWritabilityChanged()
        #expect(connection.word == "idle")
        // An answer that is given before the end of its request leaves nothing behind.
        try connection.begin()
        connection.answer()
        try connection.read(.end(nil))
        #expect(connection.word == "idle")
        try connection.begin()
        try connection.read(.end(nil))
        #expect(connection.word == "busy")
    }

    @Test("that are asked to give way close at once if they are idle, and else once they have answered")
    func givingWay() throws {
        let idle = try Connection()
        idle.activity.giveWay()
        #expect(!idle.channel.isActive)
        let busy = try Connection()
        try busy.begin()
        busy.activity.giveWay()
        #expect(busy.channel.isActive && busy.word == "waiting")
        try busy.read(.end(nil))
        busy.answer()
        #expect(!busy.channel.isActive)
    }
}
