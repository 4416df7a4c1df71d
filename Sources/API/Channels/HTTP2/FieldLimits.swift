import Domain
import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Enforces the limits of header fields on a stream of HTTP/2. The library has one limit, for the compressed block, and
/// closes the whole connection when it is exceeded (Upstream.md).
final class FieldLimitsHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    private let limits: RequestPolicy
    private let face: ListenerFace
    private var isRefused = false

    init(limits: RequestPolicy, face: ListenerFace) {
        self.limits = limits
        self.face = face
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        guard case .head(let head) = unwrapInboundIn(data), let defect = Self.defect(of: head, limits) else {
            return context.fireChannelRead(data)
        }
        isRefused = true
        var (answer, body) = face.refuse(defect, head.method, id: face.newRequestIDs().next())
        // Only the stream ends, not the connection.
        answer.headerFields[.connection] = nil
        context.write(wrapOutboundOut(.head(answer)), promise: nil)
        context.write(wrapOutboundOut(.body(body)), promise: nil)
        let channel = context.channel
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.whenComplete { _ in channel.close(promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
    }

    /// Measures names and values together, the path included, as the decoder of HTTP/1.1 does.
    static func defect(of head: HTTPRequest, _ limits: RequestPolicy) -> HTTPDefect? {
        let path = head.path?.utf8.count ?? 0
        guard path <= limits.maximumHeaders else { return .targetTooLong }
        guard head.headerFields.count <= limits.maximumHeaderCount else { return .fieldsTooLarge }
        var size = path
        for field in head.headerFields { size += field.name.rawName.utf8.count + field.value.utf8.count }
        guard size <= limits.maximumHeaders else { return .fieldsTooLarge }
        let values = head.headerFields.lazy.map { $0.value }
        if let defect = MessageRules.defect(ofTarget: head.path ?? "/", values: values) {
            return defect
        }
        // RFC 9113 §8.3.1: `:authority` replaces Host. It may be absent.
        guard let authority = head.authority, !MessageRules.isHost(authority) else { return nil }
        return .malformed("The :authority field is not a valid host and optional port.")
    }
}
