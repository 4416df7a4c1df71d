import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket

/// The handler of a WebSocket until it closes.
package typealias SocketWork = @Sendable (WebSocketConnection) async -> Void
/// Whether a connection becomes a WebSocket.
package enum SocketVerdict: Sendable {
    case open(SocketWork)
    case refused(HTTPResponse.Status)
}
/// Decides on a WebSocket upgrade.
package typealias SocketAdmission =
    @Sendable (_ path: String, _ authorization: String?, any Channel) async -> SocketVerdict

/// A connection: mutual TLS if the listener has it, then HTTP/1.1, which may become a WebSocket (RFC 6455).
struct ListenerChannel: HTTPChannelHandler {
    enum Outcome: Sendable {
        case http(NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>)
        case socket(NIOAsyncChannel<WebSocketFrame, WebSocketFrame>, SocketWork)
        case refused(NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>, HTTPResponse.Status)
    }

    struct Value: ServerChildChannelValue {
        let channel: any Channel
        let outcome: EventLoopFuture<Outcome>
    }

    let responder: Responder
    let tls: NIOSSLContext?
    let admit: SocketAdmission?

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandlers(idleHandlers())
            if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
            let verdict = NIOLoopBoundBox<SocketVerdict?>(nil, eventLoop: channel.eventLoop)
            let configuration = NIOTypedHTTPServerUpgradeConfiguration(
                upgraders: [upgrader(verdict)],
                notUpgradingCompletionHandler: { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let pipeline = channel.pipeline.syncOperations
                        // Hummingbird answers an invalid request itself. Two answers end a debug build.
                        let second = try pipeline.context(handlerType: HTTPServerProtocolErrorHandler.self)
                        pipeline.removeHandler(context: second, promise: nil)
                        try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: tls != nil))
                        // The upgrade request does not reach the routes.
                        guard case .refused(let status)? = verdict.value else {
                            return .http(try NIOAsyncChannel(wrappingChannelSynchronously: channel))
                        }
                        return .refused(try NIOAsyncChannel(wrappingChannelSynchronously: channel), status)
                    }
                })
            let outcome = try pipeline.configureUpgradableHTTPServerPipeline(
                configuration: .init(upgradeConfiguration: configuration))
            return Value(channel: channel, outcome: outcome)
        }
    }

    private func upgrader(
        _ verdict: NIOLoopBoundBox<SocketVerdict?>
    ) -> NIOTypedWebSocketServerUpgrader<Outcome> {
        NIOTypedWebSocketServerUpgrader(
            maxFrameSize: WebSocketConnection.maximumSize,
            shouldUpgrade: { [admit] channel, head in
                let authorization = head.headers["Authorization"]
                return channel.eventLoop.makeFutureWithTask {
                    guard let admit else { return SocketVerdict.refused(.notFound) }
                    guard authorization.count <= 1 else { return .refused(.badRequest) }
                    return await admit(head.uri, authorization.first, channel)
                }.map { found in
                    verdict.value = found
                    guard case .open = found else { return nil }
                    return HTTPHeaders()
                }
            },
            upgradePipelineHandler: { channel, _ in
                channel.eventLoop.makeCompletedFuture {
                    guard case .open(let work)? = verdict.value else {
                        throw ChannelError.inappropriateOperationForState
                    }
                    return .socket(try NIOAsyncChannel(wrappingChannelSynchronously: channel), work)
                }
            })
    }

    func handle(value: Value, logger: Logger) async {
        await withTaskCancellationHandler {
            do {
                switch try await value.outcome.get() {
                case .http(let channel): await handleHTTP(asyncChannel: channel, logger: logger)
                case .socket(let channel, let work): await WebSocketConnection.serve(channel, work)
                case .refused(let channel, let status):
                    try await channel.executeThenClose { _, outbound in
                        let fields: HTTPFields = [.connection: "close", .contentLength: "0"]
                        try await outbound.write(.head(HTTPResponse(status: status, headerFields: fields)))
                        try await outbound.write(.end(nil))
                    }
                }
            } catch {
                logger.debug("a connection ended before its first request")
            }
            try? await value.channel.close()
        } onCancel: {
            value.channel.close(promise: nil)
        }
    }
}

/// Handlers that close a connection after a minute without data, and every connection when the server stops. A
/// WebSocket's pongs arrive more often.
private func idleHandlers() -> [any ChannelHandler] {
    [IdleStateHandler(readTimeout: .seconds(60)), CloseIdle()]
}

private final class CloseIdle: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is IdleStateHandler.IdleStateEvent || event is ChannelShouldQuiesceEvent {
            context.close(promise: nil)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }
}
