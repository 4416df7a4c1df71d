import Encoding
import HTTPTypes
import Herald
import Hummingbird
import Logging
import NIOCore

/// Executes clients' calls with the routes of the JSON calls, and answers them.
struct HeraldCalls: Sendable {
    enum Outcome: Sendable {
        case answer([UInt8])
        case none
        /// The bytes are not a call: the connection must end.
        case malformed
    }

    private enum Failure: Int64 {
        case unknownFunction = 1
        case internalError = 6
        case arguments = 7
    }

    /// The routes of the client listener, as a function.
    let respond: @Sendable (Request, ClientContext) async throws -> Response
    private let interface = ThriftInterface.herald

    /// Executes a call.
    ///
    /// - Parameters:
    ///   - token: the token of the connection's session.
    ///   - logger: the connection's logger.
    func answer(_ message: [UInt8], token: String, on channel: any Channel, logger: Logger) async -> Outcome {
        guard let call = try? ThriftReader.message(message), call.kind == .call || call.kind == .oneWay else {
            return .malformed
        }
        let answer = await answer(call, token, channel, logger)
        return call.kind == .oneWay ? .none : .answer(answer.bytes)
    }

    private func answer(
        _ call: ThriftMessage, _ token: String, _ channel: any Channel, _ logger: Logger
    ) async -> ThriftMessage {
        guard let function = interface.functions[call.name] else {
            return failure(.unknownFunction, "The function does not exist.", of: call)
        }
        var arguments = interface.members(call.body, as: function.arguments)
        // A missing structure is treated as an empty one: the route reports the missing members.
        for declared in function.arguments where !arguments.contains(where: { $0.name == declared.name }) {
            if case .structure = declared.kind {
                arguments.append(JSONMember(name: declared.name, value: .object([:])))
            }
        }
        guard let wanted = HeraldRequest(function, arguments, token: token) else {
            return failure(.arguments, "An argument of the path is missing.", of: call)
        }
        var logger = logger
        logger[metadataKey: "protocol"] = "herald"
        do {
            let context = ClientContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
            return try await reply(to: call, function, respond(wanted.request, context))
        } catch {
            return failure(.internalError, "The service failed.", of: call)
        }
    }

    private func reply(
        to call: ThriftMessage, _ function: ThriftInterface.Function, _ response: Response
    ) async throws -> ThriftMessage {
        let bytes = CollectedBody()
        try await response.body.write(CollectingWriter(body: bytes))
        var body = bytes.bytes.isEmpty ? JSONValue.null : try StrictJSON.parse(bytes.bytes)
        var fields: [ThriftField] = []
        if response.status.kind == .successful {
            if let value = function.result.flatMap({ interface.value(body, as: $0) }) {
                fields.append(ThriftField(0, value))
            }
        } else {
            if let seconds = response.headers[.retryAfter].flatMap({ Int64($0) }), case .object(let members) = body {
                body = .object(members + [JSONMember(name: "retry_after", value: .integer(seconds))])
            }
            guard let refusal = function.refusal, let value = interface.value(body, as: refusal.kind) else {
                return failure(.internalError, "The service failed.", of: call)
            }
            fields.append(ThriftField(refusal.id, value))
        }
        return ThriftMessage(.reply, name: call.name, sequence: call.sequence, body: fields)
    }

    /// An answer with Thrift's `TApplicationException`.
    private func failure(_ failure: Failure, _ sentence: String, of call: ThriftMessage) -> ThriftMessage {
        ThriftMessage(
            .exception, name: call.name, sequence: call.sequence,
            body: [ThriftField(1, .text(sentence)), ThriftField(2, .i32(Int32(clamping: failure.rawValue)))])
    }
}

/// Collects a response's body in one buffer. Used by one task.
private final class CollectedBody: @unchecked Sendable {
    var bytes: [UInt8] = []
}

private struct CollectingWriter: ResponseBodyWriter {
    let body: CollectedBody

    func write(_ buffer: ByteBuffer) async throws { body.bytes += buffer.readableBytesView }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
