import Fixtures
import Foundation
import Testing

/// Requests of which one part is odd, to every route that the description names. `make fuzz` runs more of them.
@Suite("Odd requests", .serialized)
struct RequestFuzzTests {
    @Test("are answered by every route, and none of them ends the process, is a 5xx or an error in the log")
    func everyPart() async throws {
        let environment = ProcessInfo.processInfo.environment
        let rounds = environment["COUNTERSIGN_FUZZ_ROUNDS"].flatMap { Int($0) } ?? 1
        // `make fuzz` and `make soak` change every place.
        let share = environment["COUNTERSIGN_FUZZ_ROUNDS"] == nil ? Soak.count(5, soak: 1) : 1
        let service = try await RunningService()
        // Only `make fuzz` looks at what each request costs: no test judges times.
        let costs =
            environment["COUNTERSIGN_FUZZ_ROUNDS"] == nil ? [] : ["--pid", "\(service.processIdentifier)"]
        let found = try await expectScript(
            "Requests/fuzz_requests.py",
            service.clientArguments + [
                "--rounds", "\(rounds)", "--one-in", "\(share)", "--seed",
                environment["COUNTERSIGN_FUZZ_SEED"] ?? "9114",
            ] + costs,
            seconds: 400 * Double(rounds))
        if rounds > 1 { print(found) }
        #expect(service.stop() == 0)
        let log = try String(contentsOf: service.path("log"), encoding: .utf8).split(separator: "\n")
        // Whatever is no line of the service's own was written by the runtime.
        let errors = log.filter { !$0.hasPrefix("{") || $0.contains("\"level\":\"error\"") }
        #expect(errors.isEmpty, "\(errors.prefix(5).joined(separator: "\n"))")
        let requests = log.count { $0.contains("\"message\":\"request\"") }
        #expect(requests > 2000 / share)
    }
}
