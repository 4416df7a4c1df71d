import AsyncHTTPClient
import Encoding
import Foundation
import Metrics
import NIOCore
import NIOHTTP1
import Traces

/// The collector that an operator named, and the spans on their way to it.
struct SpanCollector: Sendable {
    let tracer: SpanTracer
    private let endpoint: String

    /// `nil` where no collector is named.
    init?(_ endpoint: ServiceURL?) {
        guard let endpoint else { return nil }
        self.endpoint = endpoint.appending("/v1/traces")?.description ?? endpoint.description
        let dropped = Counter(label: "spans_dropped")
        tracer = SpanTracer(queue: SpanQueue { dropped.increment(by: $0) })
    }

    /// The loop that sends them.
    func loop(instance: String, http: HTTPClient) -> @Sendable () async -> Void {
        let sent = Counter(label: "span_batches_sent")
        let exporter = SpanExporter(
            queue: tracer.queue, service: "countersign", version: ProgramVersion.text, instance: instance
        ) { [endpoint] body in
            var request = HTTPClientRequest(url: endpoint)
            request.method = .POST
            request.headers.add(name: "content-type", value: "application/json")
            request.headers.add(name: "user-agent", value: "countersign/\(ProgramVersion.text)")
            request.body = .bytes(ByteBuffer(bytes: body))
            guard let answer = try? await http.execute(request, timeout: .seconds(5)) else { return false }
            // Read, so that the connection can be used again; what a collector says of single spans is not looked at.
            _ = try? await answer.body.collect(upTo: 65_536)
            guard (200..<300).contains(answer.status.code) else { return false }
            sent.increment()
            return true
        }
        return { await exporter.run() }
    }
}
