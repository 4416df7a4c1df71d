import Fixtures
import Foundation
import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL

/// Connections of HTTP/2, each with one request after the other, on a stream of its own.
struct StreamLoad {
    private let connections: [(channel: any Channel, streams: NIOHTTP2Handler.StreamMultiplexer)]

    static func connect(
        _ devices: [LoadDevice], count: Int, port: Int, authority: String, group: MultiThreadedEventLoopGroup
    ) async throws -> StreamLoad {
        let contexts = try devices.map {
            try Fleet.context(
                authority: authority, certificate: $0.certificatePEM, key: $0.keyPEM, protocols: ["h2"])
        }
        var connections: [(any Channel, NIOHTTP2Handler.StreamMultiplexer)] = []
        for index in 0..<count {
            let tls = contexts[index % contexts.count]
            // The handlers are there before the server's first frame is.
            let connection = try await ClientBootstrap(group: group.next())
                .channelOption(.socketOption(.tcp_nodelay), value: 1)
                .connect(host: "127.0.0.1", port: port) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(
                            NIOSSLClientHandler(context: tls, serverHostname: "localhost"))
                    }.flatMap {
                        channel.configureHTTP2Pipeline(
                            mode: .client, connectionConfiguration: .init(), streamConfiguration: .init()
                        ) { $0.eventLoop.makeSucceededVoidFuture() }
                    }.map { (channel, $0) }
                }
            connections.append(connection)
        }
        return StreamLoad(connections: connections)
    }

    /// Runs so many requests on each connection, with one list of fields for each, and takes the processes' time.
    func run(
        _ fields: [[HPACKHeaders]], count: Int, processes: [MeasuredProcess], expecting status: Int
    ) async throws -> Load {
        let before = processes.map(\.processorSeconds).reduce(0, +)
        let start = ContinuousClock.now
        // A connection that hangs is closed, which fails its requests.
        let limits = connections.map { one in
            one.channel.eventLoop.scheduleTask(in: .minutes(2)) { one.channel.close(promise: nil) }
        }
        defer { for limit in limits { limit.cancel() } }
        let answers = try await withThrowingTaskGroup(of: [Answer].self) { tasks in
            for (connection, list) in zip(connections, fields) {
                tasks.addTask {
                    var answers: [Answer] = []
                    for index in 0..<count {
                        answers.append(try await Self.ask(list[index % list.count], on: connection))
                    }
                    return answers
                }
            }
            return try await tasks.reduce(into: [[Answer]]()) { $0.append($1) }
        }
        let used = processes.map(\.processorSeconds).reduce(0, +) - before
        return try Load(answers, since: start, processorSeconds: used, expecting: status)
    }

    func close() async {
        for connection in connections { try? await connection.channel.close().get() }
    }

    private static func ask(
        _ fields: HPACKHeaders, on connection: (channel: any Channel, streams: NIOHTTP2Handler.StreamMultiplexer)
    ) async throws -> Answer {
        let answer = StreamAnswer(fields, connection.channel.eventLoop.makePromise(of: Answer.self))
        let opened = connection.channel.eventLoop.makePromise(of: (any Channel).self)
        opened.futureResult.whenFailure { answer.fail($0) }
        connection.streams.createStreamChannel(promise: opened) { channel in
            channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(answer) }
        }
        return try await answer.future.get()
    }
}

/// Sends a request when its stream is there, and waits for the whole answer.
private final class StreamAnswer: ChannelInboundHandler, Sendable {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private let fields: HPACKHeaders
    private let promise: EventLoopPromise<Answer>
    private let began = NIODeadline.now()
    private let received: NIOLoopBoundBox<(status: Int, body: ByteBuffer)>

    init(_ fields: HPACKHeaders, _ promise: EventLoopPromise<Answer>) {
        (self.fields, self.promise) = (fields, promise)
        received = NIOLoopBoundBox.makeBoxSendingValue((0, ByteBuffer()), eventLoop: promise.futureResult.eventLoop)
    }

    var future: EventLoopFuture<Answer> { promise.futureResult }

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(.headers(.init(headers: fields, endStream: true))), promise: nil)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .headers(let headers):
            received.value.status = headers.headers.first(name: ":status").flatMap { Int($0) } ?? 0
            if headers.endStream { finish() }
        case .data(let data):
            if case .byteBuffer(var part) = data.data { received.value.body.writeBuffer(&part) }
            if data.endStream { finish() }
        default: break
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        promise.fail(ChannelError.eof)
        context.fireChannelInactive()
    }

    func fail(_ error: any Error) { promise.fail(error) }

    private func finish() {
        let (status, body) = received.value
        promise.succeed(
            Answer(
                status: status, body: body, entityTag: nil, nanoseconds: (NIODeadline.now() - began).nanoseconds))
    }
}
