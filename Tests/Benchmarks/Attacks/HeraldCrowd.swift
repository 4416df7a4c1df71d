import Domain
import Encoding
import Fixtures
import Foundation
import Herald
import NIOCore
import NIOPosix
import NIOSSL

/// Idle connections of Herald with a session and a push channel: what they cost, and how soon a ban closes them.
struct HeraldCrowd {
    let service: RunningService
    let quick: Bool
    let group: MultiThreadedEventLoopGroup
    let report: Report

    private var count: Int { quick ? 1000 : 10_000 }
    private static let devices = 64

    func run() async throws {
        Self.raiseDescriptors()
        report.section("Herald", ["what", "measured", "aim"])
        let devices = try await Fleet.certify(Self.devices, on: service, group: group)
        let provider = try await BenchmarkProvider(service)
        let fleet = try await Fleet.connect(
            devices, count: Self.devices, port: Fleet.port(service.clientURL), group: group)
        let openings = try await fleet.openings(1, by: provider.es256, of: provider, "herald")
        let tokens = try await fleet.run(openings).map { try $0[0].text("session_token") }
        let process = MeasuredProcess(id: service.processIdentifier)
        let before = process.residentMiB
        let authority = service.path("Keys/ca.pem").path
        let contexts = try devices.map { device in
            try Fleet.context(
                authority: authority, certificate: device.certificatePEM, key: device.keyPEM, protocols: ["herald/1"])
        }
        var connections: [HeraldLoad] = []
        for index in 0..<count {
            connections.append(
                try await HeraldLoad.open(
                    port: Fleet.port(service.clientURL), tls: contexts[index % contexts.count],
                    token: tokens[index % devices.count], on: group.next()))
        }
        let held = process.residentMiB
        let (busy, start) = (process.processorSeconds, ContinuousClock.now)
        try await Task.sleep(for: .seconds(10))
        let share = (process.processorSeconds - busy) / ((ContinuousClock.now - start) / .seconds(1))
        report.row(
            "\(count.formatted()) connections with a session and a push channel",
            "\((held - before).places(0)) MiB more, \(((held - before) * 1024 / Double(count)).places(0)) KiB each",
            "≤ 600 MiB")
        report.row("the same at rest", "\((share * 100).places(1)) % of a processor", "")
        try await ban(connections, 0, of: fleet, provider)
        for connection in connections { connection.close() }
        await fleet.close()
    }

    /// As many as the system gives: both ends of a connection are on this machine.
    private static func raiseDescriptors() {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(resource, &limit)
    }

    /// Bans the user of one device by the command line.
    private func ban(
        _ connections: [HeraldLoad], _ place: Int, of fleet: Fleet, _ provider: BenchmarkProvider
    ) async throws {
        let banned = stride(from: place, to: connections.count, by: Self.devices).map { connections[$0] }
        let ends = Task {
            try await withThrowingTaskGroup(of: ContinuousClock.Instant.self) { group in
                for connection in banned { group.addTask { try await connection.end() } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        let done = try await service.countersign(
            ["ban", "add", "--user", "test/\(Fleet.name("herald-\(place)-0"))", "--reason", "load", "--yes"])
        let returned = ContinuousClock.now
        guard done.status == 0 else { throw BenchmarkError(done.errors) }
        let delays = try await ends.value.map { max(0, ($0 - returned) / .milliseconds(1)) }.sorted()
        report.row(
            "a ban by another process, to the closing of \(banned.count) of them",
            "p50 \(delays[delays.count / 2].places(0)) ms, last \((delays.last ?? 0).places(0)) ms", "≤ 1,000 ms")
    }
}

/// A connection of Herald that authenticates, opens a push channel, and rests.
private final class HeraldLoad: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Two successes and the first sync request.
    private static let greeting =
        2 * Frame.response(nil).bytes.count
        + Frame.data(DataFrame(packet: PacketType.synchronizationRequest, channel: 0, total: 0, payload: [])).bytes
        .count

    private let missing: NIOLoopBoundBox<Int>
    private let ready: EventLoopPromise<Void>
    private let token: String
    private let loop: any EventLoop
    private let channel: NIOLoopBoundBox<(any Channel)?>

    private init(_ token: String, on loop: any EventLoop) {
        (self.token, self.loop) = (token, loop)
        missing = NIOLoopBoundBox(Self.greeting, eventLoop: loop)
        channel = NIOLoopBoundBox.makeBoxSendingValue(nil, eventLoop: loop)
        ready = loop.makePromise()
    }

    static func open(port: Int, tls: NIOSSLContext, token: String, on loop: any EventLoop) async throws -> HeraldLoad {
        let connection = try await loop.submit { HeraldLoad(token, on: loop) }.get()
        _ = try await ClientBootstrap(group: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([
                        NIOSSLClientHandler(context: tls, serverHostname: "localhost"), connection,
                    ])
                    connection.channel.value = channel
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        try await connection.ready.futureResult.get()
        return connection
    }

    func channelActive(context: ChannelHandlerContext) {
        let bytes =
            InitialFrame(frameSize: 16_384).bytes + Frame.authenticate(token: Array(token.utf8)).bytes
            + Frame.addChannel(0, type: ChannelKind.push.rawValue).bytes
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        missing.value -= unwrapInboundIn(data).readableBytes
        if missing.value == 0 { ready.succeed() }
    }

    func channelInactive(context: ChannelHandlerContext) { ready.fail(ChannelError.eof) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        ready.fail(error)
        context.close(promise: nil)
    }

    /// Waits for the end of the connection; when it came.
    func end() async throws -> ContinuousClock.Instant {
        try await loop.flatSubmit { [self] in
            (channel.value?.closeFuture ?? loop.makeSucceededVoidFuture()).map { ContinuousClock.now }
        }.get()
    }

    func close() {
        loop.execute { [self] in channel.value?.close(promise: nil) }
    }
}
