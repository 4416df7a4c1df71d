import AsyncHTTPClient
import Delivery
import Encoding
import Foundation
import Metrics
import Traces

/// The collector that an operator named, and the spans on their way to it.
struct SpanCollector: Sendable {
    let tracer: SpanTracer
    private let endpoint: ServiceURL
    /// From the request to the last byte of the response, seconds.
    private let timeout: TimeInterval

    /// `nil` where no collector is named.
    init?(_ endpoint: ServiceURL?, timeout: TimeInterval = 5) {
        guard let endpoint else { return nil }
        self.endpoint = endpoint.appending("/v1/traces") ?? endpoint
        self.timeout = timeout
        let dropped = Counter(label: "spans_dropped")
        tracer = SpanTracer(queue: SpanQueue { dropped.increment(by: $0) })
    }

    /// The loop that sends them.
    func loop(instance: String, http: HTTPClient) -> @Sendable () async -> Void {
        let sent = Counter(label: "span_batches_sent")
        let exporter = SpanExporter(
            queue: tracer.queue, service: "countersign", version: ProgramVersion.text, instance: instance
        ) { [endpoint, client = BoundedHTTPClient(http: http, timeout: timeout)] body in
            // What a collector says of single spans is not looked at.
            let answer = await client.post(
                body, to: endpoint.web, headers: [(name: "content-type", value: "application/json")])
            guard case .answered(200..<300, _) = answer else { return false }
            sent.increment()
            return true
        }
        return { await exporter.run() }
    }
}
