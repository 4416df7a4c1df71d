import Encoding
import Fixtures
import Foundation
import NIOCore
import NIOPosix

/// What a message costs beside a sign-in, and how long it takes to the devices of a full conversation.
struct Messages {
    let quick: Bool
    let group: MultiThreadedEventLoopGroup
    let report: Report

    private static let policy = """
        conversation_requires: provider
        required_level: none
        streams_per_user: 1000
        writes_per_minute: 120
        stored_bytes: 16777216
        poll_wait: 25s
        waiting_polls: 8
        """

    /// Users, each with a connection.
    private struct People {
        let fleet: Fleet
        let users: [String]
        let tokens: [String]

        func request(_ index: Int, _ method: String, _ path: String, body: String? = nil) -> ByteBuffer {
            RequestBytes.make(
                method, path, headers: ["Authorization: Layer session-token=\"\(tokens[index])\""], body: body)
        }
    }

    func run() async throws {
        let service = try await RunningService(policies: ["streams.yaml": Self.policy])
        let provider = try await BenchmarkProvider(service)
        let process = MeasuredProcess(id: service.processIdentifier)
        try await costs(service, provider, process)
        try await latencies(service, provider)
        _ = service.stop()
    }

    private func people(
        _ count: Int, devices: Int, _ service: RunningService, _ provider: BenchmarkProvider, _ prefix: String
    ) async throws -> People {
        let fleet = try await Fleet.connect(
            try await Fleet.certify(devices, on: service, group: group), count: count,
            port: Fleet.port(service.clientURL), group: group)
        let answers = try await fleet.run(try await fleet.openings(1, by: provider.es256, of: provider, prefix))
        return People(
            fleet: fleet, users: try answers.map { try $0[0].text("user_id") },
            tokens: try answers.map { try $0[0].text("session_token") })
    }

    /// Opens a conversation of a user's with others.
    private func open(_ people: People, by index: Int, with others: [Int]) async throws -> String {
        let id = UUID().uuidString.lowercased()
        let members = others.map { "\"\(people.users[$0])\"" }.joined(separator: ",")
        let body = #"{"id":"\#(id)","kind":"conversation","members":[\#(members)]}"#
        let answer = try await people.fleet.connections[index].run([
            people.request(index, "POST", "/streams", body: body)
        ])
        guard answer[0].status == 201 else { throw BenchmarkError("\(answer[0].status) opening a stream") }
        return id
    }

    private static func message() -> String {
        let text = String(repeating: "word ", count: 20)
        return #"{"id":"\#(UUID().uuidString.lowercased())","parts":[{"type":"text/plain","body":"\#(text)"}]}"#
    }

    private func costs(_ service: RunningService, _ provider: BenchmarkProvider, _ process: MeasuredProcess)
        async throws
    {
        let (width, count) = (64, quick ? 20 : 200)
        let people = try await people(width, devices: 8, service, provider, "message")
        let verification = try Limits.verifications().es256
        let openings = try await people.fleet.openings(count, by: provider.es256, of: provider, "opening")
        _ = try await Load.run(people.fleet, processes: [process], requests: openings, expecting: 201)
        let again = try await people.fleet.openings(count, by: provider.es256, of: provider, "opening")
        let signIn = try await Load.run(people.fleet, processes: [process], requests: again, expecting: 201)
        var requests: [[ByteBuffer]] = []
        for index in 0..<width {
            let stream = try await open(people, by: index, with: [(index + 1) % width])
            requests.append(
                (0..<count).map { _ in
                    people.request(index, "POST", "/streams/\(stream)/events", body: Self.message())
                })
        }
        let append = try await Load.run(people.fleet, processes: [process], requests: requests, expecting: 201)
        let base = signIn.microseconds - verification
        report.section(
            "A message in a stream of two, durable, over \(width) connections",
            ["call", "CPU µs", "per second", "p50 ms", "p99 ms", "÷ sign-in without signature", "aim"])
        report.row(
            "POST /sessions ES256, a known user", signIn.microseconds.places(1), signIn.perSecond.places(0),
            signIn.p50.places(2), signIn.p99.places(2), "", "")
        report.row(
            "POST /streams/{id}/events", append.microseconds.places(1), append.perSecond.places(0),
            append.p50.places(2), append.p99.places(2), (append.microseconds / base).places(2), "≤ 1.5")
        await people.fleet.close()
    }

    /// From the first byte of the message to the answer of each device that waits.
    private func latencies(_ service: RunningService, _ provider: BenchmarkProvider) async throws {
        let count = 25
        let people = try await people(count, devices: count, service, provider, "member")
        let stream = try await open(people, by: 0, with: Array(1..<count))
        var anchors = [String](repeating: "latest", count: count)
        for index in 1..<count {
            let answer = try await people.fleet.connections[index].run([
                people.request(index, "GET", "/sync?anchor=latest&wait=0")
            ])
            anchors[index] = try answer[0].text("anchor")
        }
        var (times, behind, appends): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<(quick ? 30 : 300) {
            let message = people.request(0, "POST", "/streams/\(stream)/events", body: Self.message())
            let places = anchors
            try await withThrowingTaskGroup(of: (Int, String, ContinuousClock.Instant).self) { tasks in
                for index in 1..<count {
                    tasks.addTask {
                        let request = people.request(index, "GET", "/sync?anchor=\(places[index])&wait=25")
                        let answer = try await people.fleet.connections[index].run([request])
                        return (index, try answer[0].text("anchor"), .now)
                    }
                }
                // All of them wait then.
                try await Task.sleep(for: .milliseconds(50))
                let start = ContinuousClock.now
                let sent = try await people.fleet.connections[0].run([message])
                guard sent[0].status == 201 else { throw BenchmarkError("\(sent[0].status) appending") }
                let answered = ContinuousClock.now
                appends.append((answered - start) / .milliseconds(1))
                for try await (index, anchor, end) in tasks {
                    anchors[index] = anchor
                    times.append((end - start) / .milliseconds(1))
                    behind.append(max(0, (end - answered) / .milliseconds(1)))
                }
            }
        }
        report.section(
            "A message to the devices of 25 members, which wait in GET /sync",
            ["of \(appends.count) messages", "p50 ms", "p99 ms", "longest ms", "aim p99"])
        for (name, times, aim) in [
            ("from the request to each device's answer", times, "≤ 50"),
            ("of it the request's own answer, with its durable commit", appends, ""),
            ("from that answer to each device's", behind, ""),
        ] {
            let sorted = times.sorted()
            func rank(_ part: Double) -> String { sorted[Int(Double(sorted.count - 1) * part)].places(2) }
            report.row(name, rank(0.5), rank(0.99), rank(1), aim)
        }
        await people.fleet.close()
    }
}
