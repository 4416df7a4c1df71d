import Encoding
import Tracing

/// Sends the spans of a queue to a collector, in batches, by OTLP over HTTP with JSON.
package struct SpanExporter: Sendable {
    /// The largest number of spans in one request to the collector.
    static let batch = 512

    private let queue: SpanQueue
    private let resource: JSONValue
    private let scope: JSONValue
    private let pause: Duration
    private let send: @Sendable ([UInt8]) async -> Bool

    /// Sends a batch. Returns `false` if there is none or the collector does not accept it; the caller then waits.
    func sendNext() async -> Bool {
        let spans = queue.take(atMost: Self.batch)
        guard !spans.isEmpty else { return false }
        // In a separate task, which a shutdown does not cancel. Otherwise a batch under way would be lost.
        guard await Task(operation: { [send, body = body(of: spans)] in await send(body) }).value else {
            queue.drop(spans.count)
            return false
        }
        return true
    }
}

package extension SpanExporter {
    /// - Parameters:
    ///   - version: the program's.
    ///   - pause: how long is waited between two looks at the queue.
    ///   - send: posts a body to the collector; `false` if it did not take it. A batch is not sent twice.
    init(
        queue: SpanQueue, service: String, version: String, instance: String, pause: Duration = .seconds(1),
        send: @escaping @Sendable ([UInt8]) async -> Bool
    ) {
        self.queue = queue
        self.pause = pause
        self.send = send
        resource = .object([
            "attributes": EndedSpan.json([
                "service.name": .string(service), "service.version": .string(version),
                "service.instance.id": .string(instance),
            ])
        ])
        scope = .object(["name": .string(service), "version": .string(version)])
    }

    /// Sends spans until the task is cancelled, then sends the rest.
    func run() async {
        while !Task.isCancelled {
            while await sendNext(), !Task.isCancelled {}
            try? await Task.sleep(for: pause)
        }
        // The last spans are those of the shutdown itself. They are sent although the task is cancelled.
        while await sendNext() {}
    }

    private func body(of spans: [EndedSpan]) -> [UInt8] {
        var bytes: [UInt8] = []
        JSONValue.object([
            "resourceSpans": .array([
                .object([
                    "resource": resource,
                    "scopeSpans": .array([.object(["scope": scope, "spans": .array(spans.map(\.json))])]),
                ])
            ])
        ]).appendJSON(to: &bytes)
        return bytes
    }
}
