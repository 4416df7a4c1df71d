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
        /// `nil` for a refused stream.
        let streams: NIOHTTP2Handler.AsyncStreamMultiplexer<Stream?>
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
        let goingAway = GoingAwayHandler(
            idleTimeout: .milliseconds(Int64(limits.idleTimeout * 1000)),
            pingTimeout: .milliseconds(Int64(limits.requestTimeout * 1000)), progress: progress)
        let watch = GoingAwayHandler.Watch(goingAway, on: channel.eventLoop)
        let shared = NIOLoopBound(
            (unsent: UnsentBytes(limit: limits.maximumUnsent), progress: progress), eventLoop: channel.eventLoop)
        let operations = channel.pipeline.syncOperations
        let halfClosed = HalfClosedStreamHandler()
        try operations.addHandler(halfClosed)
        let streams: NIOHTTP2Handler.AsyncStreamMultiplexer<Stream?> = try operations.configureAsyncHTTP2Pipeline(
            mode: .server, streamDelegate: watch, frameDelegate: watch, configuration: configuration
        ) { [self] stream in
            stream.eventLoop.makeCompletedFuture { [self] in
                let operations = stream.pipeline.syncOperations
                guard watch.takesStream(maximumStreams) else {
                    try operations.addHandler(RefusedStreamHandler())
                    return nil
                }
                let carrier = ResponseCarrier(accounts, on: channel)
                try operations.addHandler(StreamRulesHandler(watch))
                if let fastPath { try operations.addHandler(FastStreamHandler(fastPath, established, limits: limits)) }
                try operations.addHandlers([EndStreamHandler(), HTTP2FramePayloadToHTTPServerCodec()])
                try operations.addHandler(
                    AnswerPaceHandler(
                        timeout: limits.answerTimeout, unsent: shared.value.unsent, progress: shared.value.progress,
                        isStream: true, carrier: carrier))
                try operations.addHandlers(http1.configuration.additionalChannelHandlers())
                try operations.addHandler(
                    HTTPConnectionStateHandler(
                        idleTimeout: http1.configuration.idleTimeout.map { .init($0) }, logger: logger))
                return Stream(requests: try HTTP1Channel.Value(wrappingChannelSynchronously: stream), carrier: carrier)
            }
        }
        try operations.addHandlers([HalfClosedStreamHandler.Ear(halfClosed), goingAway])
        return Value(streams: streams)
    }

    func handle(_ value: Value, logger: Logger) async {
        do {
            try await withThrowingDiscardingTaskGroup { group in
                for try await stream in value.streams.inbound {
                    guard let stream else { continue }
                    group.addTask { [http1] in
                        await ResponseCarrier.$current.withValue(stream.carrier) {
                            await http1.handleHTTP(asyncChannel: stream.requests, logger: logger)
                        }
                    }
                }
            }
        } catch {
            logger.debug("an HTTP/2 connection ended", metadata: ["cause": .string(ErrorWords.of(error))])
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
