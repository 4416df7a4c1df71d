import Domain
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP2
import NIOHTTPTypes
import NIOHTTPTypesHTTP2

/// HTTP/2 on an accepted connection, composed of the library's handlers: its own composition has one set of limits for
/// all (Upstream.md).
final class HTTP2Connection: Sendable {
    /// A stream whose request may be handled.
    struct Stream: Sendable {
        let requests: HTTP1Channel.Value
        let carrier: ResponseCarrier
    }

    /// A connection whose streams may be handled.
    struct Value: Sendable {
        /// The streams whose requests are for the routes.
        let streams: AsyncStream<Stream>
    }

    /// Handles the requests of a stream after they were read.
    let http1: HTTP1Channel
    let limits: RequestPolicy
    /// The number of streams that a peer may have open at a time.
    let maximumStreams: Int
    /// Answers ahead of the routes; `nil` if there is none.
    let fastPath: FastPath?
    private let accounts: ResponseAccounts

    init(
        http1: HTTP1Channel, limits: RequestPolicy, maximumStreams: Int, fastPath: FastPath?,
        accounts: ResponseAccounts
    ) {
        self.http1 = http1
        self.limits = limits
        self.maximumStreams = maximumStreams
        self.fastPath = fastPath
        self.accounts = accounts
    }

    /// Adds the protocol's handlers, on the connection's event loop.
    func setup(
        channel: any Channel, activity: ConnectionActivity, established: EstablishedConnection, logger: Logger
    ) throws -> Value {
        let progress = ConnectionProgress(activity)
        let timeout = TimeAmount.milliseconds(Int64(limits.requestTimeout * 1000))
        let goingAway = GoingAwayHandler(
            idleTimeout: .milliseconds(Int64(limits.idleTimeout * 1000)),
            pingTimeout: timeout, progress: progress)
        let watch = GoingAwayHandler.Watch(goingAway, on: channel.eventLoop)
        let shared = FastStreamsHandler.Shared(
            unsent: UnsentBytes(limit: limits.maximumUnsent), progress: progress, watch: watch)
        let (streams, requests) = AsyncStream.makeStream(of: Stream.self)
        channel.closeFuture.whenComplete { _ in requests.finish() }
        let operations = channel.pipeline.syncOperations
        let configuration = configuration
        let halfClosed = HalfClosedStreamHandler(timeout: timeout)
        try operations.addHandlers([
            halfClosed,
            NIOHTTP2Handler(
                mode: .server, frameDelegate: watch, connectionConfiguration: configuration.connection,
                streamConfiguration: configuration.stream),
            HalfClosedStreamHandler.Ear(halfClosed), goingAway,
        ])
        if let fastPath {
            try operations.addHandler(
                FastStreamsHandler(
                    fastPath, established, limits: limits, maximumStreams: maximumStreams, shared: shared))
        }
        let sharedOnLoop = NIOLoopBound(shared, eventLoop: channel.eventLoop)
        try operations.addHandler(
            HTTP2StreamMultiplexer(
                mode: .server, channel: channel, targetWindowSize: configuration.stream.targetWindowSize
            ) { [self] stream in
                stream.eventLoop.makeCompletedFuture { [self] in
                    if let stream = try open(stream, of: channel, sharedOnLoop.value, logger) { requests.yield(stream) }
                }
            })
        return Value(streams: streams)
    }

    /// Adds the handlers of a stream whose request is for the routes; `nil` if the stream is refused.
    private func open(
        _ stream: any Channel, of channel: any Channel, _ shared: FastStreamsHandler.Shared, _ logger: Logger
    ) throws -> Stream? {
        let operations = stream.pipeline.syncOperations
        let id = try stream.syncOptions?.getOption(HTTP2StreamChannelOptions.streamID)
        let isOwnFault = id.map { !shared.watch.hasRoom(for: $0, among: maximumStreams) } ?? true
        guard let id, !isOwnFault, shared.watch.takesPlace(id) else {
            // For the streams of its neighbours a connection does not answer.
            if isOwnFault { shared.watch.refused() }
            try operations.addHandler(RefusedStreamHandler())
            return nil
        }
        let carrier = ResponseCarrier(accounts, on: channel)
        try operations.addHandlers([
            StreamRulesHandler(shared.watch, tells: carrier), EndStreamHandler(), HTTP2FramePayloadToHTTPServerCodec(),
            AnswerPaceHandler(
                timeout: limits.answerTimeout, unsent: shared.unsent, progress: shared.progress, isStream: true,
                carrier: carrier),
        ])
        try operations.addHandlers(http1.configuration.additionalChannelHandlers())
        try operations.addHandler(
            HTTPConnectionStateHandler(idleTimeout: http1.configuration.idleTimeout.map { .init($0) }, logger: logger))
        return Stream(requests: try HTTP1Channel.Value(wrappingChannelSynchronously: stream), carrier: carrier)
    }

    func handle(_ value: Value, logger: Logger) async {
        await withDiscardingTaskGroup { group in
            for await stream in value.streams {
                group.addTask { [http1] in
                    await stream.carrier.carrying {
                        await http1.handleHTTP(asyncChannel: stream.requests, logger: logger)
                    }
                }
            }
        }
    }

    /// The limits against floods. A peer that cancels all its streams at once, twice, is not refused. A peer that opens
    /// and resets streams as fast as it can reaches the limit within a second (CVE-2023-44487). Each count is for one
    /// connection, and reserves eight bytes for each event.
    var configuration: NIOHTTP2Handler.Configuration {
        var configuration = NIOHTTP2Handler.Configuration()
        // It compares unvalidated bytes as text: StreamRulesHandler has the rules instead (Upstream.md).
        configuration.connection.headerBlockValidation = .disabled
        configuration.connection.contentLengthValidation = .disabled
        configuration.connection.initialSettings = nioDefaultSettings.filter {
            $0.parameter != .maxConcurrentStreams && $0.parameter != .maxHeaderListSize
        }
        // The library closes the connection at this size. Below it only the stream is refused (FieldLimitsHandler).
        let most = 2 * limits.maximumHeaders + 32 * limits.maximumHeaderCount
        configuration.connection.initialSettings.append(HTTP2Setting(parameter: .maxHeaderListSize, value: most))
        configuration.connection.initialSettings.append(
            HTTP2Setting(parameter: .maxConcurrentStreams, value: maximumStreams))
        configuration.connection.maximumSequentialEmptyDataFrames = 16
        // Errors of streams over the whole life of a connection. Their rate is also limited.
        configuration.connection.maximumConnectionGlitches = 2000
        configuration.connection.controlFrameRateLimit.windowLength = .seconds(5)
        configuration.stream.streamResetFrameRateLimit.maximumCount = 400
        configuration.stream.streamResetFrameRateLimit.windowLength = .seconds(5)
        configuration.stream.streamErrorRateLimit.windowLength = .seconds(5)
        return configuration
    }
}
