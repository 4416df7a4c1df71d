import Encoding
import Fixtures
import Foundation

/// How long a hundred receivers of security events wait for the word of a ban, from the end of the operator's command.
struct EventReceivers {
    let quick: Bool
    let report: Report

    func run() async throws {
        let service = try await RunningService(
            policies: ["webhooks.yaml": "streams_per_provider: 100\n"], arguments: ["--loopback-urls"])
        let interpreter = ProcessInfo.processInfo.environment["COUNTERSIGN_PYTHON"] ?? "python3"
        let done = try await Command.run(
            interpreter,
            [RunningService.root.appending(path: "Tests/Interop/SharedSignals/shared_signals_load.py").path]
                + service.clientArguments + [
                    "--countersign", try RunningService.product("countersign"), "--directory", service.directory.path,
                    "--rounds", quick ? "1" : "10",
                ], seconds: 300)
        _ = service.stop()
        guard done.status == 0, case .array(let values)? = try? StrictJSON.parse(Array(done.output.utf8)) else {
            throw BenchmarkError(done.errors)
        }
        let times = values.compactMap { value -> Double? in
            switch value {
            case .number(let time): time
            case .integer(let time): Double(time)
            default: nil
            }
        }
        guard times.count == 3 else { throw BenchmarkError("no receiver learned of a ban: \(done.output)") }
        report.section("A hundred receivers and a ban", ["what", "p50 ms", "p99 ms", "last ms", "aim"])
        report.row(
            "from the end of the command to the receiver, 200 events each time", times[0].places(0),
            times[1].places(0), times[2].places(0), "p99 <= 1,000")
    }
}
