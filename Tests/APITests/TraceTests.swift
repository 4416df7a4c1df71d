import Domain
import Encoding
import Fixtures
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import Operations
import Testing
import Tracing

@testable import API
@testable import Traces

@Suite("Traces of requests", .timeLimit(.minutes(10)))
struct TraceTests {
    private static let sent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    private static let id = "4bf92f3577b34da6a3ce929d0e0e4736"

    @Test("stand in the log line by the id that the client sent, whoever answers", arguments: [false, true])
    func logged(isHTTP2: Bool) async throws {
        try await ServiceFixture.run(FastPathEqualityTests.policy) { fixture in
            let connection = try await fixture.connectNewDevice()
            for usesFastPath in [true, false] {
                let way = AnswerWay(fixture, usesFastPath: usesFastPath)
                let wire = try await way.open(connection, isHTTP2: isHTTP2)
                for fields in [
                    [("traceparent", Self.sent)], [], [("traceparent", "00-xy")], [("traceparent", Self.sent + "\"}")],
                    [("traceparent", Self.sent), ("Traceparent", Self.sent)],
                ] {
                    _ = try await wire.exchange(WireRequest(method: "POST", target: "/nonces", fields: fields))
                }
                await wire.close()
                let lines = way.lines.filter { $0.contains("route=/nonces") }
                #expect(lines.map { $0.contains("trace_id=\(Self.id)") }.first == true, "\(way.lines)")
                #expect(way.lines.filter { $0.contains("trace_id") }.count == 1, "\(way.lines)")
                #expect(!way.lines.contains { $0.hasPrefix("error") || $0.hasPrefix("warning") })
            }
        }
    }

    @Test("are one span for a request, whoever answers, in the client's own trace", arguments: [false, true])
    func spans(usesFastPath: Bool) async throws {
        try await ServiceFixture.run(FastPathEqualityTests.policy) { fixture in
            let connection = try await fixture.connectNewDevice()
            let queue = SpanQueue()
            let way = AnswerWay(fixture, usesFastPath: usesFastPath, tracer: SpanTracer(queue: queue))
            let wire = try await way.open(connection, isHTTP2: false)
            for target in ["/nonces", "/nowhere"] {
                _ = try await wire.exchange(
                    WireRequest(method: "POST", target: target, fields: [("traceparent", Self.sent)]))
            }
            await wire.close()
            #expect(queue.count == 2)
            let spans = queue.take(atMost: 10)
            #expect(spans.map(\.name) == ["POST /nonces", "POST unmatched"])
            #expect(spans.allSatisfy { $0.identity.traceID.description == Self.id })
            #expect(spans.allSatisfy { $0.parentID == 0x00F0_67AA_0BA9_02B7 })
            #expect(spans.map { $0.attributes.get("http.response.status_code") } == [.int64(201), .int64(404)])
            #expect(spans.map { $0.attributes.get("countersign.request_id") } == way.log.requestIDs.map { .string($0) })
        }
    }

    @Test("cost nothing where nobody collects them and none is named: no context, no span, no look at a trace")
    func off() async throws {
        try await RouterBench.run { bench in
            #expect(bench.listeners.tracer == nil)
            let middleware = ErrorResponseMiddleware<PublicContext>(
                face: bench.listeners.face(.public), policy: bench.fixture.policy)
            let request = Request(
                head: HTTPRequest(method: .get, scheme: "https", authority: "localhost", path: "/"),
                body: RequestBody(buffer: ByteBuffer()))
            let source = ApplicationRequestContextSource(
                channel: NIOAsyncTestingChannel(), logger: Logger(label: "test") { _ in bench.log.handler })
            var hasContext: Bool?
            _ = try await middleware.handle(request, context: PublicContext(source: source)) { _, _ in
                hasContext = ServiceContext.current != nil
                return Response(status: .ok)
            }
            #expect(hasContext == false)
        }
    }

    @Test("are handed on by what a request does, with the client's own span where nothing is recorded")
    func handed() async throws {
        try await RouterBench.run { bench in
            let middleware = ErrorResponseMiddleware<PublicContext>(
                face: bench.listeners.face(.public), policy: bench.fixture.policy)
            var found: [String?] = []
            for text in [Self.sent, "00-00", nil] {
                var fields = HTTPFields()
                fields[.init("Traceparent") ?? .date] = text
                let request = Request(
                    head: HTTPRequest(
                        method: .get, scheme: "https", authority: "localhost", path: "/", headerFields: fields),
                    body: RequestBody(buffer: ByteBuffer()))
                let source = ApplicationRequestContextSource(
                    channel: NIOAsyncTestingChannel(), logger: Logger(label: "test") { _ in bench.log.handler })
                _ = try await middleware.handle(request, context: PublicContext(source: source)) { _, _ in
                    found.append(Trace.current?.parent.description)
                    return Response(status: .ok)
                }
            }
            #expect(found == [Self.sent, nil, nil])
        }
    }
}
