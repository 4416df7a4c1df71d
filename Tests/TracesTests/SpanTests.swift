import Encoding
import Synchronization
import Testing
import Tracing

@testable import Traces

@Suite("Spans", .timeLimit(.minutes(10)))
struct SpanTests {
    private final class Bodies: Sendable {
        private let bodies = Mutex<[JSONValue]>([])
        var all: [JSONValue] { bodies.withLock { $0 } }
        func add(_ bytes: [UInt8]) -> Bool {
            guard let body = try? StrictJSON.parse(bytes) else { return false }
            bodies.withLock { $0.append(body) }
            return true
        }
    }

    private final class Dropped: Sendable {
        private let dropped = Mutex(0)
        var count: Int { dropped.withLock { $0 } }
        func add(_ count: Int) { dropped.withLock { $0 += count } }
    }

    private static func exporter(
        _ queue: SpanQueue, _ send: @escaping @Sendable ([UInt8]) async -> Bool
    ) -> SpanExporter {
        SpanExporter(queue: queue, service: "test", version: "1", instance: "i", pause: .milliseconds(5), send: send)
    }

    private static func spans(_ body: JSONValue) -> [JSONValue] {
        guard case .array(let resources)? = body["resourceSpans"],
            case .array(let scopes)? = resources.first?["scopeSpans"],
            case .array(let spans)? = scopes.first?["spans"]
        else { return [] }
        return spans
    }

    @Test("are written as OTLP wants them, a child under its parent")
    func form() async throws {
        let (queue, bodies) = (SpanQueue(), Bodies())
        let tracer = SpanTracer(queue: queue)
        let parent = try #require(TraceParent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
        let span = tracer.startSpan("outer", context: .of(Trace(parent: parent, tracer: nil)), ofKind: .server)
        ServiceContext.withValue(span.context) {
            tracer.record(
                "inner", in: Trace.current, ofKind: .client, elapsed: 1000, attributes: ["a": .string("\"x\"")])
        }
        span.attributes = ["n": .int64(-1), "b": .bool(true)]
        span.setStatus(SpanStatus(code: .error))
        span.end()
        span.end()
        #expect(queue.count == 2)
        #expect(await Self.exporter(queue) { bodies.add($0) }.sendNext())
        let found = Self.spans(try #require(bodies.all.first))
        let (inner, outer) = (try #require(found.first), try #require(found.last))
        #expect(found.count == 2 && inner["name"]?.text == "inner" && outer["name"]?.text == "outer")
        #expect(outer["traceId"]?.text == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(outer["parentSpanId"]?.text == "00f067aa0ba902b7")
        #expect(inner["traceId"] == outer["traceId"] && inner["parentSpanId"] == outer["spanId"])
        #expect(outer["kind"] == .integer(2) && inner["kind"] == .integer(3) && outer["status"]?["code"] == .integer(2))
        let number = JSONValue.object(["key": .string("n"), "value": .object(["intValue": .string("-1")])])
        let truth = JSONValue.object(["key": .string("b"), "value": .object(["boolValue": .bool(true)])])
        #expect(outer["attributes"] == .array([truth, number]))
        let times = ["startTimeUnixNano", "endTimeUnixNano"].compactMap { inner[$0]?.text.flatMap(UInt64.init) }
        #expect(times.count == 2 && times[1] - times[0] == 1000)
        #expect(!(await Self.exporter(queue) { _ in true }.sendNext()))
    }

    @Test("begin a trace of their own where there is none, and are not recorded where the caller's is not")
    func sampling() throws {
        let queue = SpanQueue()
        let tracer = SpanTracer(queue: queue)
        let own = (0..<100).map { _ in tracer.startSpan("own", context: .topLevel) }
        #expect(Set(own.map(\.identity.traceID)).count == 100 && own.allSatisfy(\.isRecording))
        let quiet = try #require(TraceParent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"))
        let span = tracer.startSpan("quiet", context: .of(Trace(parent: quiet, tracer: tracer)))
        #expect(!span.isRecording && span.identity.traceID == quiet.traceID && !span.identity.isSampled)
        span.end()
        tracer.record("quiet", in: Trace(parent: quiet, tracer: tracer), ofKind: .client, elapsed: 1, attributes: [:])
        #expect(queue.count == 0)
        var headers: [String: String] = [:]
        tracer.inject(span.context, into: &headers, using: DictionaryInjector())
        #expect(headers == ["traceparent": span.identity.description])
        var context = ServiceContext.topLevel
        tracer.extract(["traceparent": "no"], into: &context, using: DictionaryExtractor())
        #expect(context.trace == nil)
        tracer.extract(headers, into: &context, using: DictionaryExtractor())
        #expect(context.trace?.parent == span.identity)
    }

    @Test("that are too many are dropped and counted, and so are those that the collector does not take")
    func bounds() async {
        let dropped = Dropped()
        let queue = SpanQueue(limit: 1000, onDrop: dropped.add)
        let tracer = SpanTracer(queue: queue)
        for _ in 0..<1500 { tracer.startSpan("x", context: .topLevel).end() }
        #expect(queue.count == 1000 && dropped.count == 500)
        #expect(!(await Self.exporter(queue) { _ in false }.sendNext()))
        #expect(queue.count == 1000 - SpanExporter.batch && dropped.count == 500 + SpanExporter.batch)
    }

    @Test("leave at the end too, when the loop that sends them is told to stop")
    func stop() async throws {
        let (queue, bodies) = (SpanQueue(), Bodies())
        let tracer = SpanTracer(queue: queue)
        let loop = Task { await Self.exporter(queue) { !Task.isCancelled && bodies.add($0) }.run() }
        for _ in 0..<100 { tracer.startSpan("x", context: .topLevel).end() }
        loop.cancel()
        await loop.value
        #expect(bodies.all.map { Self.spans($0).count }.reduce(0, +) == 100 && queue.count == 0)
    }

    @Test("are not made where there is no tracer, and the work is in no trace then")
    func off() async {
        #expect(await withTrace("x", by: nil) { Trace.current == nil })
        let queue = SpanQueue()
        #expect(await withTrace("x", by: SpanTracer(queue: queue)) { Trace.current != nil })
        #expect(queue.count == 1)
    }
}

private struct DictionaryInjector: Injector {
    func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
}

private struct DictionaryExtractor: Extractor {
    func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
}
