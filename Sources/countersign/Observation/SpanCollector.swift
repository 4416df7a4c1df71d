import AsyncHTTPClient
import Delivery
import Encoding
import Foundation
import Metrics
import Traces

/// Exports spans to the collector that the operator configured.
struct SpanCollector: Sendable {
    let tracer: SpanTracer
    private let endpoint: ServiceURL
    /// Time limit of a whole request, in seconds.
    private let timeout: TimeInterval

    /// `nil` if no collector is configured.
    init?(_ endpoint: ServiceURL?, timeout: TimeInterval = 5) {
        guard let endpoint else { return nil }
        self.endpoint = endpoint.appending("/v1/traces") ?? endpoint
        self.timeout = timeout
        let dropped = Counter(label: "spans_dropped")
        tracer = SpanTracer(queue: SpanQueue { dropped.increment(by: $0) })
    }

    func loop(instance: String, http: HTTPClient) -> @Sendable () async -> Void {
        let sent = Counter(label: "span_batches_sent")
        let exporter = SpanExporter(
            queue: tracer.queue, service: "countersign", version: ProgramVersion.text, instance: instance
        ) { [endpoint, client = BoundedHTTPClient(http: http, timeout: timeout)] body in
            // Rejected spans are not retried, so the response is ignored.
            let answer = await client.post(
                body, to: endpoint.web, headers: [(name: "content-type", value: "application/json")])
            guard case .answered(200..<300, _) = answer else { return false }
            sent.increment()
            return true
        }
        return { await exporter.run() }
    }
}
