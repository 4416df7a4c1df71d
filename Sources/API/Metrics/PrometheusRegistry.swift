import Metrics
import Synchronization

/// Stores the values of swift-metrics and renders them in Prometheus' text exposition format 0.0.4.
///
/// Histograms are in seconds with fixed buckets; counters end in `_total`.
package final class PrometheusRegistry: MetricsFactory {
    private struct Series: Hashable, Comparable {
        let name: String
        let labels: String

        static func < (left: Series, right: Series) -> Bool {
            (left.name, left.labels) < (right.name, right.labels)
        }
    }

    private struct State {
        var counters: [Series: Count] = [:]
        var recorders: [Series: Distribution] = [:]
    }

    /// A gauge of the service, or of the process by the system's name for it.
    private struct Gauge: Sendable {
        let series: Series
        let value: @Sendable () -> Double?
    }

    private let state = Mutex(State())
    private let gauges = Mutex<[Gauge]>([])
    private let pages = Mutex<[@Sendable () -> [String]]>([])

    package init() {}
}

package extension PrometheusRegistry {
    /// Adds a gauge whose value is read at each scrape. It is omitted while it has no value.
    func addGauge(
        _ name: String, _ labels: [(String, String)] = [], value: @escaping @Sendable () -> Double?
    ) {
        gauges.withLock { $0.append(Gauge(series: Series(name: name, labels: Self.labels(labels)), value: value)) }
    }

    /// The counters of a name, each with the values of its labels in their order.
    func counters(_ name: String) -> [(labels: [String], value: Int)] {
        let counters = state.withLock { $0.counters.filter { $0.key.name == name } }
        return counters.map { series, count in
            // Each label is written as name="value".
            let parts = series.labels.split(separator: "\"", omittingEmptySubsequences: false)
            let values = parts.enumerated().filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
            return (values, Int(count.value))
        }
    }

    /// Adds lines that are already in the exposition format.
    func addPage(_ lines: @escaping @Sendable () -> [String]) {
        pages.withLock { $0.append(lines) }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        let series = Series(name: label, labels: Self.labels(dimensions))
        return state.withLock { state in
            if let known = state.counters[series] { return known }
            let made = Count()
            state.counters[series] = made
            return made
        }
    }

    func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        distribution(label, dimensions)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        distribution(label, dimensions)
    }

    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}

    private func distribution(_ label: String, _ dimensions: [(String, String)]) -> Distribution {
        let series = Series(name: label, labels: Self.labels(dimensions))
        return state.withLock { state in
            if let known = state.recorders[series] { return known }
            let made = Distribution()
            state.recorders[series] = made
            return made
        }
    }

    /// The text for a scrape, sorted.
    func render() -> String {
        let (counters, recorders) = state.withLock { ($0.counters, $0.recorders) }
        var lines: [String] = []
        var last = ""
        func type(_ series: Series, _ name: String, _ kind: String) {
            guard name != last else { return }
            if let help = MetricHelp.sentences[series.name] { lines.append("# HELP \(name) \(help)") }
            lines.append("# TYPE \(name) \(kind)")
            last = name
        }
        for (series, count) in counters.sorted(by: { $0.key < $1.key }) {
            let name = "countersign_\(series.name)_total"
            type(series, name, "counter")
            lines.append("\(name)\(Self.braced(series.labels)) \(count.value)")
        }
        for (series, distribution) in recorders.sorted(by: { $0.key < $1.key }) {
            let name = "countersign_\(series.name)"
            type(series, name, "histogram")
            let separator = series.labels.isEmpty ? "" : ","
            let (buckets, sum, count) = distribution.read()
            for (bound, value) in zip(Distribution.bounds.map { "\($0)" } + ["+Inf"], buckets + [count]) {
                lines.append("\(name)_bucket{\(series.labels)\(separator)le=\"\(bound)\"} \(value)")
            }
            lines.append("\(name)_sum\(Self.braced(series.labels)) \(sum)")
            lines.append("\(name)_count\(Self.braced(series.labels)) \(count)")
        }
        for gauge in gauges.withLock({ $0 }).sorted(by: { $0.series < $1.series }) {
            guard let value = gauge.value() else { continue }
            let name = "countersign_\(gauge.series.name)"
            type(gauge.series, name, "gauge")
            lines.append("\(name)\(Self.braced(gauge.series.labels)) \(value)")
        }
        for page in pages.withLock({ $0 }) { lines += page() }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func braced(_ labels: String) -> String { labels.isEmpty ? "" : "{\(labels)}" }

    private static func labels(_ dimensions: [(String, String)]) -> String {
        dimensions.map { name, value in "\(name)=\"\(escaped(value))\"" }.joined(separator: ",")
    }

    /// Escapes a label's value. Most have nothing to escape, and looking for each character takes microseconds.
    private static func escaped(_ value: String) -> String {
        guard value.utf8.contains(where: { $0 == 0x5C || $0 == 0x22 || $0 == 0x0A }) else { return value }
        return value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}

private final class Count: CounterHandler {
    private let count = Atomic<Int64>(0)

    var value: Int64 { count.load(ordering: .relaxed) }

    func increment(by amount: Int64) { count.add(amount, ordering: .relaxed) }

    func reset() { count.store(0, ordering: .relaxed) }
}

private final class Distribution: RecorderHandler, TimerHandler {
    static let bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    private let state = Mutex((buckets: [Int](repeating: 0, count: bounds.count), sum: 0.0, count: 0))

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        state.withLock { state in
            if let index = Self.bounds.firstIndex(where: { value <= $0 }) { state.buckets[index] += 1 }
            state.sum += value
            state.count += 1
        }
    }

    /// Cumulative buckets, the sum and the count.
    func read() -> (buckets: [Int], sum: Double, count: Int) {
        state.withLock { state in
            var total = 0
            let cumulative = state.buckets.map { bucket in
                total += bucket
                return total
            }
            return (cumulative, state.sum, state.count)
        }
    }
}
