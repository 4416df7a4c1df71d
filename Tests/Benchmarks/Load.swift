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
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        let used = processes.map(\.processorSeconds).reduce(0, +) - before
        let all = answers.flatMap { $0 }
        if let wrong = all.first(where: { $0.status != status }) {
            throw BenchmarkError("\(wrong.status) instead of \(status): \(String(buffer: wrong.body))")
        }
        let times = all.map(\.nanoseconds).sorted()
        let elapsed = Double(seconds) + Double(attoseconds) / 1e18
        func rank(_ part: Double) -> Double { Double(times[Int(Double(times.count - 1) * part)]) / 1e6 }
        return Load(
            microseconds: used * 1e6 / Double(all.count), perSecond: Double(all.count) / elapsed, p50: rank(0.5),
            p99: rank(0.99), answers: answers)
    }
}
