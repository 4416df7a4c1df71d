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

    func run() async throws {
        let service = try await RunningService(policies: [
            "streams.yaml": People.policy, "authorizations.yaml": "required_level: none\n",
            "phones.yaml": "push_applications: [\(Self.application)]\n",
        ])
        let provider = try await BenchmarkProvider(service)
        let process = MeasuredProcess(id: service.processIdentifier)
        try await costs(service, provider, process)
        try await latencies(service, provider)
        try await pushes(service, provider)
        _ = service.stop()
    }

    private func costs(_ service: RunningService, _ provider: BenchmarkProvider, _ process: MeasuredProcess)
        async throws
    {
        let (width, count) = (64, quick ? 20 : 200)
        let people = try await People.signIn(width, devices: 8, service, provider, "message", group: group)
        let verification = try Limits.verifications().es256
        let openings = try await people.fleet.openings(count, by: provider.es256, of: provider, "opening")
        _ = try await Load.run(people.fleet, processes: [process], requests: openings, expecting: 201)
        var streams: [String] = []
        for index in 0..<width { streams.append(try await people.open(by: index, with: [(index + 1) % width])) }
        var (signIns, appends): ([Load], [Load]) = ([], [])
        for round in 0..<(quick ? 1 : 3) {
            let again = try await people.fleet.openings(count, by: provider.es256, of: provider, "opening")
            signIns.append(try await Load.run(people.fleet, processes: [process], requests: again, expecting: 201))
            let requests = streams.enumerated().map { index, stream in
                (0..<count).map { _ in
                    people.request(index, "POST", "/streams/\(stream)/events", body: People.message())
                }
            }
            appends.append(try await Load.run(people.fleet, processes: [process], requests: requests, expecting: 201))
            report.keep(Round("POST /sessions ES256, a known user", "Countersign", round, signIns[round]))
            report.keep(Round("POST /streams/{id}/events", "Countersign", round, appends[round]))
        }
        let (signIn, append) = (signIns.median, appends.median)
        let base = signIn.microseconds - verification
        report.section(
            "A message in a stream of two, durable, over \(width) connections",
            ["call", "CPU µs", "per second", "p50 ms", "p99 ms", "÷ sign-in without signature", "aim"])
        report.row(
            "POST /sessions ES256, a known user", signIn.microseconds.places(1), signIn.perSecond.places(0),
            signIn.p50.places(2), signIn.p99.places(2), "", "")
        report.row(
            "POST /streams/{id}/events", append.microseconds.places(1), append.perSecond.places(0),
            append.p50.places(2), append.p99.places(2), (append.microseconds / base).places(2), "≤ 0.8")
        report.compare(
            "a message appended, CPU µs", append.microseconds, with: "a sign-in without its signature", base)
        await people.fleet.close()
    }

    /// From the first byte of the message to the answer of each device that waits.
    private func latencies(_ service: RunningService, _ provider: BenchmarkProvider) async throws {
        let count = 25
        let people = try await People.signIn(
            count, devices: count, service, provider, "member", group: group)
        let stream = try await people.open(by: 0, with: Array(1..<count))
        var anchors = [String](repeating: "latest", count: count)
        for index in 1..<count {
            let answer = try await people.fleet.connections[index].run([
                people.request(index, "GET", "/sync?anchor=latest&wait=0")
            ])
            anchors[index] = try answer[0].text("anchor")
        }
        var (times, behind, appends): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<(quick ? 30 : 300) {
            let message = people.request(0, "POST", "/streams/\(stream)/events", body: People.message())
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

    private static let application = "arn:aws:sns:us-east-1:123456789012:app/GCM/bench"

    /// From a request for permission to the sender of the recipient's push. The file sender stands for a carrier.
    private func pushes(_ service: RunningService, _ provider: BenchmarkProvider) async throws {
        let count = quick ? 10 : 100
        let people = try await People.signIn(count, devices: count, service, provider, "recipient", group: group)
        let endpoint = Self.application.replacing(":app/", with: ":endpoint/")
        for index in 1..<count {
            let body = #"{"push_endpoint":"\#(endpoint)/\#(UUID().uuidString.lowercased())"}"#
            let answers = try await people.fleet.connections[index].run([
                people.request(index, "PATCH", "/me", body: body)
            ])
            guard answers[0].status == 200 else { throw BenchmarkError("\(answers[0].status) registering an endpoint") }
        }
        var times: [Double] = []
        let sent = service.path("texts.jsonl").path
        for index in 1..<count {
            let body = #"{"id":"\#(UUID().uuidString.lowercased())","to":"\#(people.users[index])"}"#
            let before = FileSize.of(sent)
            let start = ContinuousClock.now
            let answers = try await people.fleet.connections[0].run([
                people.request(0, "POST", "/authorizations", body: body)
            ])
            guard answers[0].status == 201 else { throw BenchmarkError("\(answers[0].status) asking for permission") }
            while FileSize.of(sent) == before {
                guard ContinuousClock.now - start < .seconds(30) else { throw BenchmarkError("a push did not come") }
                try await Task.sleep(for: .milliseconds(1))
            }
            times.append((ContinuousClock.now - start) / .milliseconds(1))
        }
        times.sort()
        func rank(_ part: Double) -> String { times[Int(Double(times.count - 1) * part)].places(2) }
        report.section(
            "A push, from the request for permission to its sender",
            ["of \(times.count) pushes", "p50 ms", "p99 ms", "aim"])
        report.row("to a device of the recipient", rank(0.5), rank(0.99), "p99 ≤ 1,000")
        await people.fleet.close()
    }
}

/// The size of a file to which a sender appends.
enum FileSize {
    static func of(_ path: String) -> Int {
        ((try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? NSNumber)?.intValue ?? 0
    }
}
