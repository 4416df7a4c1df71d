import Fixtures
import Foundation

/// What the service holds, and how long a client waits, beside clients that ask for much and take nothing.
struct Hoards {
    let service: RunningService
    let report: Report

    func run() async throws {
        report.section("Beside clients that take nothing", ["what", "measured", "aim"])
        // What earlier loads left in memory is not theirs.
        _ = service.stop()
        try service.start()
        let done = try await Command.run(
            "python3",
            [
                RunningService.root.appending(path: "Tests/Interop/Listeners/hoard.py").path, "--public",
                service.publicURL,
                "--ca", service.path("Keys/ca.pem").path, "--pid", String(service.processIdentifier), "--hold", "15",
                "--end", "60",
            ], environment: ["PYTHONPATH": RunningService.root.appending(path: "Tests/Interop").path], seconds: 180)
        guard done.status == 0 else { throw BenchmarkError(done.errors) }
        let lines = done.output.split(separator: "\n").map(String.init)
        let aims = ["< 120 MiB", "no errors", "0"]
        for (line, aim) in zip(lines, aims) { report.row("40 connections, windows of zero", line, aim) }
    }
}
