import HTTPTypes
import Metrics
import Testing

@testable import API

@Suite("The page of metrics")
struct PrometheusRegistryTests {
    @Test("has one sentence and one type ahead of all series of a metric, and leaves out what has no value")
    func page() {
        let registry = PrometheusRegistry()
        let counter = registry.makeCounter(label: "handshakes", dimensions: [("listener", "public"), ("result", "ok")])
        counter.increment(by: 2)
        let odd = registry.makeCounter(label: "handshakes", dimensions: [("listener", "a\"\\\n"), ("result", "ok")])
        odd.increment(by: 1)
        registry.addGauge("outbox_waiting", [("kind", "b")]) { 2 }
        registry.addGauge("outbox_waiting", [("kind", "a")]) { 1 }
        registry.addGauge("review_queue") { nil }
        registry.addPage { ["# TYPE own gauge", "own 1"] }
        let expected = """
            # HELP countersign_handshakes_total TLS handshakes by result. A connection whose result is not ok has no request.
            # TYPE countersign_handshakes_total counter
            countersign_handshakes_total{listener="a\\"\\\\\\n",result="ok"} 1
            countersign_handshakes_total{listener="public",result="ok"} 2
            # HELP countersign_outbox_waiting Waiting messages by kind. At most 10000 in all are counted.
            # TYPE countersign_outbox_waiting gauge
            countersign_outbox_waiting{kind="a"} 1.0
            countersign_outbox_waiting{kind="b"} 2.0
            # TYPE own gauge
            own 1

            """
        #expect(registry.render() == expected)
    }

    @Test("knows a sentence for each metric, of one line that ends with a full stop")
    func sentences() {
        #expect(MetricHelp.sentences.count > 30)
        for (name, sentence) in MetricHelp.sentences {
            #expect(sentence.hasSuffix(".") && !sentence.contains("\n") && !sentence.contains("\\"), "\(name)")
        }
    }

    @Test("gives the counters of a name to the console, with the values of their labels in order")
    func counters() {
        let registry = PrometheusRegistry()
        for (code, reason, count) in [("rate_limited", "", 2), ("user_banned", "spam", 3)] as [(String, String, Int64)]
        {
            registry.makeCounter(label: "refusals", dimensions: [("code", code), ("reason", reason)])
                .increment(by: count)
        }
        registry.makeCounter(label: "nonces_spent", dimensions: []).increment(by: 4)
        let refusals = registry.counters("refusals").sorted { $0.value < $1.value }
        #expect(refusals.map(\.labels) == [["rate_limited", ""], ["user_banned", "spam"]])
        #expect(refusals.map(\.value) == [2, 3])
        #expect(registry.counters("nonces_spent").map(\.value) == [4] && registry.counters("other").isEmpty)
    }

    @Test("has a method of a client's own for no label where no route has it")
    func methods() throws {
        let odd = try #require(HTTPRequest.Method("BREW"))
        #expect(RequestMeasurements.label(of: odd, RequestMeasurements.unmatched) == "other")
        #expect(RequestMeasurements.label(of: .get, RequestMeasurements.unmatched) == "GET")
        #expect(RequestMeasurements.label(of: odd, "/coffee") == "BREW")
    }
}
