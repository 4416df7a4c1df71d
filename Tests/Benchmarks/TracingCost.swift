import Fixtures
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// What tracing costs a checked session, off and on: two nodes of one store, in turns, in one run.
struct TracingCost {
    let quick: Bool
    let group: MultiThreadedEventLoopGroup
    let report: Report

    private let width = 32

    func run() async throws {
        let collector = try await Collector(group: group)
        let service = try await RunningService()
        let other = try RunningService(
            besides: service, arguments: ["--otlp-endpoint", "http://127.0.0.1:\(collector.port)"])
        let provider = try await BenchmarkProvider(service)
        let devices = try await Fleet.certify(8, on: service, group: group)
        let first = try await Fleet.connect(devices, count: width, port: Fleet.port(service.clientURL), group: group)
        let minted = try await first.openings(1, by: provider.es256, of: provider, "traced")
        let tokens = try await first.run(minted).map { try $0[0].text("session_token") }
        let second = try await Fleet.connect(devices, count: width, port: Fleet.port(other.clientURL), group: group)
        let plain = requests(tokens, [])
        // Of a caller that records nothing itself (W3C Trace Context §3.2.2.5.1).
        let named = requests(tokens, ["traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"])
        let (off, on) = (
            MeasuredProcess(id: service.processIdentifier), MeasuredProcess(id: other.processIdentifier)
        )
        let kinds: [(name: String, fleet: Fleet, process: MeasuredProcess, requests: [[ByteBuffer]])] = [
            ("off", first, off, plain), ("off, again", first, off, plain),
            ("off, the caller names a trace", first, off, named),
            ("on, the caller names a trace and records nothing", second, on, named), ("on", second, on, plain),
        ]
        // What comes first finds nothing in memory.
        for kind in kinds { _ = try await kind.fleet.run(kind.requests.map { Array($0.prefix(20)) }) }
        var loads = [[Load]](repeating: [], count: kinds.count)
        for _ in 0..<(quick ? 1 : 5) {
            for (index, kind) in kinds.enumerated() {
                loads[index].append(
                    try await Load.run(
                        kind.fleet, processes: [kind.process], requests: kind.requests, expecting: 200))
            }
        }
        await first.close()
        await second.close()
        _ = (other.stop(), service.stop())
        let spans = collector.bodies
        guard spans > 0 else { throw BenchmarkError("the collector got no span") }
        show(kinds.map(\.name), loads)
    }

    private func requests(_ tokens: [String], _ headers: [String]) -> [[ByteBuffer]] {
        tokens.map { token in
            let request = RequestBytes.make(
                "GET", "/sessions/current", headers: ["Authorization: Layer session-token=\"\(token)\""] + headers)
            return [ByteBuffer](repeating: request, count: quick ? 100 : 2000)
        }
    }

    private func show(_ names: [String], _ loads: [[Load]]) {
        report.section(
            "A checked session with tracing off and on: medians of \(loads[0].count) turns",
            ["tracing", "CPU µs", "least and most", "÷ off", "per second"])
        let medians = loads.map { $0.sorted { $0.microseconds < $1.microseconds } }
        let off = medians[0][medians[0].count / 2].microseconds
        for (name, sorted) in zip(names, medians) {
            let load = sorted[sorted.count / 2]
            report.row(
                name, load.microseconds.places(1),
                "\(sorted[0].microseconds.places(1)) to \(sorted[sorted.count - 1].microseconds.places(1))",
                (load.microseconds / off).places(2), load.perSecond.places(0))
        }
    }
}

/// A collector that takes every span and keeps none.
private final class Collector: Sendable {
    let port: Int
    private let listener: any Channel
    private let counter = Tally()

    /// How many requests came.
    var bodies: Int { counter.count }

    init(group: MultiThreadedEventLoopGroup) async throws {
        let counter = counter
        listener = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.pipeline.configureHTTPServerPipeline().flatMapThrowing {
                    try channel.pipeline.syncOperations.addHandler(Sink(counter: counter))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        guard let port = listener.localAddress?.port else { throw BenchmarkError("no free port") }
        self.port = port
    }

    deinit { listener.close(promise: nil) }

    private final class Tally: Sendable {
        private let value = Atomic(0)
        var count: Int { value.load(ordering: .relaxed) }
        func add() { value.wrappingAdd(1, ordering: .relaxed) }
    }

    private final class Sink: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart
        private let counter: Tally

        init(counter: Tally) { self.counter = counter }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .end = unwrapInboundIn(data) else { return }
            counter.add()
            let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["content-length": "0"])
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
