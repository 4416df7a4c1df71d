import Domain
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypes

/// HTTP/1.1 on an accepted connection, composed of the library's handlers and our own before and between them.
final class HTTP1Connection: Sendable {
    /// A connection whose requests may be handled.
    struct Value: ServerChildChannelValue {
        let requests: HTTP1Channel.Value
        let carrier: ResponseCarrier
        /// Completes with the first thing that is not for the fast path; `nil` if everything is for the routes.
        fileprivate let routed: EventLoopPromise<Void>?

        var channel: any Channel { requests.channel }

        /// Waits until the routes have something to do. A task keeps the memory of what it once called. So the task of a
        /// connection that only gets answers from memory calls none of the library's functions for its requests.
        func waitForRoutes() async {
            guard let routed else { return }
            await withTaskCancellationHandler {
                try? await routed.futureResult.get()
            } onCancel: {
                routed.succeed()
            }
        }
    }

    private let http1: HTTP1Channel
    private let limits: RequestPolicy
    private let face: ListenerFace
    private let fastPath: FastPath?

    /// - Parameter fastPath: answers ahead of the routes; `nil` if there is none.
    init(
        limits: RequestPolicy, face: ListenerFace, fastPath: FastPath?,
        responder: @escaping HTTPChannelHandler.Responder
    ) {
        self.limits = limits
        self.face = face
        self.fastPath = fastPath
        var configuration = Self.configuration(limits, face, isStream: false)
        // The fast path has its own timer, which sees its answers too.
        if fastPath != nil { configuration.idleTimeout = nil }
        http1 = HTTP1Channel(responder: responder, configuration: configuration)
    }

    /// How requests are read, on a connection of HTTP/1.1 or on a stream of HTTP/2.
    static func configuration(
        _ limits: RequestPolicy, _ face: ListenerFace, isStream: Bool
    ) -> HTTP1Channel.Configuration {
        let timeout = TimeAmount.milliseconds(Int64(limits.requestTimeout * 1000))
        let maximumBody = max(limits.maximumBody, face.directory.largestBody(on: face.name))
        let handlers = { @Sendable () -> [any RemovableChannelHandler] in
            let bounds = RequestBoundsHandler(timeout: timeout, maximumBody: maximumBody, isStream: isStream)
            // With HTTP/1.1 the decoder itself enforces the limits of the header.
            return isStream ? [FieldLimitsHandler(limits: limits, face: face), bounds] : [bounds]
        }
        return HTTP1Channel.Configuration(
            additionalChannelHandlers: handlers(),
            idleTimeout: .milliseconds(Int64(limits.idleTimeout * 1000)),
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: limits.maximumHeaders, maxHeaderListSize: limits.maximumHeaders,
                maxHeaderFieldCount: limits.maximumHeaderCount))
    }

    /// Adds the protocol's handlers, on the connection's event loop.
    func setup(
        channel: any Channel, activity: ConnectionActivity, established: EstablishedConnection, logger: Logger
    ) -> EventLoopFuture<Value> {
        let carrier = ResponseCarrier(face.accounts, on: channel)
        return channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(FirstByteHandler())
        }.flatMap { [self] in
            paced(activity, carrier).setup(channel: channel, logger: logger)
        }.flatMapThrowing { [self] requests in
            try MessageRulesHandler.add(
                to: channel, limits: limits, face: face, requestIDs: established.requestIDs)
            let routed = try fastPath.map {
                try FastPathHandler.add(
                    $0, to: channel, established, idleTimeout: .milliseconds(Int64(limits.idleTimeout * 1000)))
            }
            return Value(requests: requests, carrier: carrier, routed: routed)
        }
    }

    func handle(_ value: Value, logger: Logger) async {
        await value.carrier.carrying {
            await http1.handle(value: value.requests, logger: logger)
        }
    }

    /// The handlers for one connection: its answers have a deadline, and its listener's limits apply.
    private func paced(_ activity: ConnectionActivity, _ carrier: ResponseCarrier) -> HTTP1Channel {
        var configuration = http1.configuration
        let others = configuration.additionalChannelHandlers
        configuration.additionalChannelHandlers = { [limits] in
            [
                AnswerPaceHandler(
                    timeout: limits.answerTimeout, unsent: UnsentBytes(limit: limits.maximumUnsent),
                    progress: ConnectionProgress(activity), isStream: false, carrier: carrier)
            ] + others()
        }
        return HTTP1Channel(responder: http1.responder, configuration: configuration)
    }
}
