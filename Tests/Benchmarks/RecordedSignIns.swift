import Fixtures
import Foundation
import NIOCore
import NIOPosix

/// What the record of sign-ins costs them: services with a store each, in turns, that differ in `recorded_per_hour`. The
/// first two are equal, and show the noise. All requests come from one network.
struct RecordedSignIns {
    let quick: Bool
    let group: MultiThreadedEventLoopGroup
    let report: Report

    private static let width = 32
    private static let counted = "only counted"
    private static let recorded = "each recorded"

    /// A service, and what signs users in there.
    private struct Kind {
        let name: String
        let service: RunningService
        let provider: BenchmarkProvider
        let fleet: Fleet
        let process: MeasuredProcess
        let ops: LoadConnection
    }

    /// One turn of a kind.
    private struct Turn {
        let load: Load
        /// Microseconds of processor time for one sign-in, until its record was written.
        let microseconds: Double
    }

    func run() async throws {
        var kinds: [Kind] = []
        for (name, most) in [
            (Self.counted, 0), ("only counted, again", 0), ("1,000 an hour recorded, as by default", 1000),
            (Self.recorded, 1_000_000),
        ] {
            kinds.append(try await start(name, most))
        }
        // The users are known afterwards.
        for kind in kinds { _ = try await turn(kind) }
        var turns = [[Turn]](repeating: [], count: kinds.count)
        for round in 0..<(quick ? 1 : 5) {
            for (index, kind) in kinds.enumerated() {
                let taken = try await turn(kind)
                turns[index].append(taken)
                report.keep(Round("POST /sessions RS256, a known user", kind.name, round, taken.load))
            }
        }
        show(kinds.map(\.name), turns)
        for kind in kinds {
            await kind.ops.close()
            await kind.fleet.close()
            _ = kind.service.stop()
        }
    }

    private func start(_ name: String, _ most: Int) async throws -> Kind {
        let service = try await RunningService(policies: ["sessions.yaml": "recorded_per_hour: \(most)\n"])
        let devices = try await Fleet.certify(8, on: service, group: group)
        return Kind(
            name: name, service: service, provider: try await BenchmarkProvider(service),
            fleet: try await Fleet.connect(
                devices, count: Self.width, port: Fleet.port(service.clientURL), group: group),
            process: MeasuredProcess(id: service.processIdentifier),
            ops: try await LoadConnection.open(port: Fleet.port(service.opsURL), tls: nil, on: group.next()))
    }

    private func turn(_ kind: Kind) async throws -> Turn {
        let count = quick ? 20 : 150
        let requests = try await kind.fleet.openings(count, by: kind.provider.rs256, of: kind.provider, "recorded")
        // What is done without any sign-in is done in the same time, too.
        let idle = try await used(by: kind) { try await Task.sleep(for: .seconds(2)) }
        var load: Load?
        let start = ContinuousClock.now
        let spent = try await used(by: kind) {
            load = try await Load.run(kind.fleet, processes: [kind.process], requests: requests, expecting: 201)
            try await waitForRecords(kind)
        }
        guard let load else { throw BenchmarkError("nothing was measured") }
        let own = spent - idle * ((ContinuousClock.now - start) / .seconds(2))
        return Turn(load: load, microseconds: own * 1e6 / Double(count * Self.width))
    }

    /// Seconds of processor time.
    private func used(by kind: Kind, _ body: () async throws -> Void) async throws -> Double {
        let before = kind.process.processorSeconds
        try await body()
        return kind.process.processorSeconds - before
    }

    /// Until no attempt waits to be written. The last numbers are written with the last attempts or in the next round.
    private func waitForRecords(_ kind: Kind) async throws {
        for _ in 0..<120 {
            try await Task.sleep(for: .milliseconds(500))
            let answer = try await kind.ops.run([RequestBytes.make("GET", "/metrics")])[0]
            let lines = String(buffer: answer.body).split(separator: "\n")
            guard let line = lines.first(where: { $0.hasPrefix("countersign_sign_ins_pending") }) else {
                throw BenchmarkError("no sign_ins_pending in /metrics: \(answer.status)")
            }
            if line.split(separator: " ").last.flatMap({ Double($0) }) == 0 {
                return try await Task.sleep(for: .milliseconds(2500))
            }
        }
        throw BenchmarkError("\(kind.name): attempts were not written within a minute")
    }

    private func show(_ names: [String], _ turns: [[Turn]]) {
        report.section(
            "A sign-in beside its record, RS256, a known user, durable: medians of \(turns[0].count) turns",
            [
                "attempts", "CPU µs", "÷ counted", "with the record CPU µs", "÷ counted", "per second", "p50 ms",
                "p99 ms",
            ])
        let loads = turns.map { $0.map(\.load).median }
        let whole = turns.map { $0.map(\.microseconds).sorted()[$0.count / 2] }
        for (index, (name, load)) in zip(names, loads).enumerated() {
            report.row(
                name, load.microseconds.places(1), (load.microseconds / loads[0].microseconds).places(2),
                whole[index].places(1), (whole[index] / whole[0]).places(2), load.perSecond.places(0),
                load.p50.places(2), load.p99.places(2))
        }
        guard let recorded = names.firstIndex(of: Self.recorded) else { return }
        // The mean of the two that are equal.
        func without(_ figure: (Int) -> Double) -> Double { (figure(0) + figure(1)) / 2 }
        report.compare(
            "a sign-in, each recorded, p50 ms", loads[recorded].p50, with: Self.counted, without { loads[$0].p50 })
        report.compare(
            "a sign-in, each recorded, CPU µs until it is written", whole[recorded], with: Self.counted,
            without { whole[$0] })
    }
}
