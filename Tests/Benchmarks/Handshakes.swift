import Fixtures
import Foundation
import NIOCore
import NIOPosix

/// Full and resumed handshakes, made by Python's `ssl` (OpenSSL), whose sessions can be kept.
struct Handshakes {
    let service: RunningService
    let quick: Bool
    let group: MultiThreadedEventLoopGroup
    let report: Report

    func run() async throws {
        report.section("Mutual-TLS handshakes, each with one request", ["handshake", "CPU µs"])
        let device = try await Fleet.certify(1, on: service, group: group)[0]
        let certificate = service.path("bench.pem")
        let key = service.path("bench.key")
        try device.certificatePEM.write(to: certificate, atomically: true, encoding: .utf8)
        try device.keyPEM.write(to: key, atomically: true, encoding: .utf8)
        let process = MeasuredProcess(id: service.processIdentifier)
        let count = quick ? 50 : 1000
        for version in ["1.3", "1.2"] {
            for kind in ["full", "resumed"] {
                let before = process.processorSeconds
                let done = try await Command.run(
                    "python3",
                    [
                        RunningService.root.appending(path: "Tests/Benchmarks/handshakes.py").path,
                        String(Fleet.port(service.clientURL)), service.path("Keys/ca.pem").path, certificate.path,
                        key.path, version, kind, String(count),
                    ], seconds: 300)
                guard done.status == 0 else { throw BenchmarkError(done.errors) }
                let used = (process.processorSeconds - before) * 1e6 / Double(count)
                report.row("TLS \(version) \(kind)", used.places(0))
            }
        }
    }
}
