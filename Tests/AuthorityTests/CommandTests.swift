import Fixtures
import Foundation
import Testing

@Suite("Another program")
struct CommandTests {
    @Test("gets its input, arguments and environment, and gives back status, output and errors")
    func exchange() async throws {
        let result = try await Command.run(
            "sh", ["-c", "cat; printf '%s' \"$1$WORD\"; echo no >&2; exit 3", "sh", "a b "],
            input: Data("in\n".utf8), environment: ["WORD": "c"])
        #expect(result == (3, "in\na b c", "no\n"))
    }

    @Test("that runs too long is stopped, and one that does not exist is named")
    func failures() async {
        await #expect(throws: Command.Failure.timedOut("sleep")) {
            try await Command.run("sleep", ["600"], seconds: 0.1)
        }
        await #expect(throws: Command.Failure.notFound("no-such-program")) {
            try await Command.run("no-such-program", [])
        }
    }
}
