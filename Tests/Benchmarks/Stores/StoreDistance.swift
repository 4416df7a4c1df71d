import Fixtures
import Foundation
import NIOCore
import NIOPosix

/// What calls take when PostgreSQL is in another place: they wait for each of their round trips.
struct StoreDistance {
    let quick: Bool
    let group: MultiThreadedEventLoopGroup
    let report: Report

    private static let roundTrip = 2.5
    private static let socket = ".s.PGSQL.5432"
    private var calls: Int { quick ? 20 : 200 }
    private var streams: Int { quick ? 8 : 64 }

    func run() async throws {
        let cluster = try PostgreSQLCluster(settings: [])
        guard let place = cluster.connection.dropFirst().first else { throw BenchmarkError("no socket") }
        let scratch = try ScratchDirectory()
        let proxy = try await DelayingProxy.start(
            at: scratch.file(Self.socket), to: "\(place)/\(Self.socket)",
            roundTrip: .nanoseconds(Int64(Self.roundTrip * 1e6)), on: group)
        let service = try await RunningService(
            policies: ["streams.yaml": People.policy],
            store: try cluster.address(of: "distance").replacing(place, with: scratch.path))
        report.section(
            "PostgreSQL (fsync on) \(Self.roundTrip) ms away, one call after the other",
            ["call", "p50 ms", "p99 ms", "round trips each"])
        let provider = try await BenchmarkProvider(service)
        let people = try await People.signIn(5, devices: 5, service, provider, "distant", group: group)
        var stream = ""
        for index in 0..<streams {
            stream = try await people.open(by: 0, with: [1 + index % 4])
            let message = people.request(0, "POST", "/streams/\(stream)/events", body: People.message())
            _ = try await people.fleet.connections[0].run([message])
        }
        let idle = try await idleTrips(proxy)
        for (name, status, path, body) in [
            ("GET /sync?anchor=0, a page of \(streams) streams", 200, "/sync?anchor=0&wait=0", nil),
            ("GET /streams, a page", 200, "/streams", nil),
            ("POST /phone-verifications", 202, "/phone-verifications", People.phoneStart),
            ("POST /streams/{id}/events", 201, "/streams/\(stream)/events", People.message),
        ] as [(String, Int, String, (() -> String)?)] {
            let requests = (0..<calls).map { _ in
                people.request(0, body == nil ? "GET" : "POST", path, body: body?())
            }
            let before = proxy.roundTrips
            let start = ContinuousClock.now
            let load = try Load(
                [try await people.fleet.connections[0].run(requests)], since: start, processorSeconds: 0,
                expecting: status)
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            let trips = (Double(proxy.roundTrips - before) - idle * seconds) / Double(calls)
            report.row(name, load.p50.places(1), load.p99.places(1), max(0, trips).places(1))
        }
        await people.fleet.close()
        _ = service.stop()
        try await proxy.close()
    }

    /// Round trips a second of a node that nobody asks: it looks for changes, and for its own tasks.
    private func idleTrips(_ proxy: DelayingProxy) async throws -> Double {
        let (before, start) = (proxy.roundTrips, ContinuousClock.now)
        try await Task.sleep(for: .seconds(quick ? 2 : 5))
        return Double(proxy.roundTrips - before) / ((ContinuousClock.now - start) / .seconds(1))
    }
}
