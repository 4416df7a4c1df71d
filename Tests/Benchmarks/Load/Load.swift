import Foundation
import NIOCore

/// One measured run of requests over a fleet.
struct Load: Sendable {
    /// Processor time of the service for one request, of all its nodes together, microseconds.
    let microseconds: Double
    let perSecond: Double
    /// Milliseconds.
    let p50: Double
    let p99: Double
    let answers: [[Answer]]

    /// Runs one list of requests a connection and takes the processes' processor time around it.
    static func run(
        _ fleet: Fleet, processes: [MeasuredProcess], requests: [[ByteBuffer]], expecting status: Int
    ) async throws -> Load {
        let before = processes.map(\.processorSeconds).reduce(0, +)
        let start = ContinuousClock.now
        let answers = try await fleet.run(requests)
        let used = processes.map(\.processorSeconds).reduce(0, +) - before
        return try Load(answers, since: start, processorSeconds: used, expecting: status)
    }

    /// What answers say that came until now, of each connection.
    init(
        _ answers: [[Answer]], since start: ContinuousClock.Instant, processorSeconds used: Double,
        expecting status: Int
    ) throws {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        let all = answers.flatMap { $0 }
        if let wrong = all.first(where: { $0.status != status }) {
            throw BenchmarkError("\(wrong.status) instead of \(status): \(String(buffer: wrong.body))")
        }
        let times = all.map(\.nanoseconds).sorted()
        let elapsed = Double(seconds) + Double(attoseconds) / 1e18
        func rank(_ part: Double) -> Double { Double(times[Int(Double(times.count - 1) * part)]) / 1e6 }
        (microseconds, perSecond) = (used * 1e6 / Double(all.count), Double(all.count) / elapsed)
        (p50, p99, self.answers) = (rank(0.5), rank(0.99), answers)
    }
}

extension [Load] {
    /// The one whose processor time is in the middle. There has to be one.
    var median: Load { sorted { $0.microseconds < $1.microseconds }[count / 2] }
}
