import Fixtures
import Foundation
import NIOCore

/// What connections cost, beside their requests.
extension Peers {
    /// Full and resumed handshakes, made by Python's `ssl` (OpenSSL), whose sessions can be kept.
    func handshakes(_ servers: [MeasuredServer], _ device: LoadDevice) async throws {
        report.section(
            "Mutual-TLS handshakes, each with one request",
            ["handshake", "server", "CPU µs", "÷ nginx", "÷ node", "ms each, client included"])
        let certificate = service.path("bench.pem")
        let key = service.path("bench.key")
        try device.certificatePEM.write(to: certificate, atomically: true, encoding: .utf8)
        try device.keyPEM.write(to: key, atomically: true, encoding: .utf8)
        let script = RunningService.root.appending(path: "Tests/Benchmarks/handshakes.py").path
        let count = quick ? 50 : 1000
        for version in ["1.3", "1.2"] {
            for kind in ["full", "resumed"] {
                var (costs, times): ([Double], [Double]) = ([], [])
                for server in servers {
                    let processes = server.process.family
                    let before = processes.map(\.processorSeconds).reduce(0, +)
                    let start = ContinuousClock.now
                    let done = try await Command.run(
                        "python3",
                        [
                            script, String(server.port), service.path("Keys/ca.pem").path, certificate.path, key.path,
                            version, kind, String(count),
                        ], seconds: 300)
                    guard done.status == 0 else { throw BenchmarkError("\(server.name): \(done.errors)") }
                    let (seconds, attoseconds) = (ContinuousClock.now - start).components
                    times.append((Double(seconds) * 1000 + Double(attoseconds) / 1e15) / Double(count))
                    costs.append((processes.map(\.processorSeconds).reduce(0, +) - before) * 1e6 / Double(count))
                }
                for ((server, cost), time) in zip(zip(servers, costs), times) {
                    report.row(
                        "TLS \(version) \(kind)", server.name, cost.places(0), (cost / costs[0]).places(2),
                        (cost / costs[1]).places(2), time.places(1))
                }
                summarize("a \(kind) handshake of TLS \(version), CPU µs", servers, costs)
            }
        }
    }

    /// What connections hold that do nothing after their first request.
    func idle(_ servers: [MeasuredServer], _ devices: [LoadDevice]) async throws {
        let (count, atOnce) = (quick ? 200 : 10_000, quick ? 100 : 1000)
        report.section(
            "\(count.formatted()) idle mutual-TLS connections", ["server", "before MiB", "more MiB", "KiB each", "aim"])
        var sizes: [Double] = []
        for server in servers {
            func resident() -> Double { server.process.family.map(\.residentMiB).reduce(0, +) }
            // The first requests of a process grow its buffers: they are not what a connection costs.
            let first = try await Fleet.connect(devices, count: 64, port: server.port, group: group)
            _ = try await first.run(first.nonceRequests(1))
            let before = resident()
            var crowds: [Fleet] = []
            while crowds.count * atOnce < count {
                let crowd = try await Fleet.connect(devices, count: atOnce, port: server.port, group: group)
                _ = try await crowd.run(crowd.nonceRequests(1))
                crowds.append(crowd)
            }
            let more = resident() - before
            sizes.append(more * 1024 / Double(count))
            report.row(
                server.name, before.places(0), more.places(0), (more * 1024 / Double(count)).places(0),
                server.isOwn ? "≤ 300 MiB" : "")
            for crowd in crowds + [first] { await crowd.close() }
        }
        summarize("an idle mutual-TLS connection, KiB", servers, sizes)
    }
}
