import Fixtures
import Foundation
import Testing

/// The formal model in `Tests/Model`, by TLC: see its README.
@Suite("The model of the data layer", .serialized)
struct ModelTests {
    @Test("holds, and each guard that is taken out violates a named property")
    func guards() async throws {
        let result = try await python("check.py", seconds: 900)
        #expect(result.status == 0, "\(result.output.suffix(8000))\n\(result.errors.suffix(2000))")
        #expect(result.output.contains(" 0 not as expected"))
    }

    private func python(_ script: String, seconds: Double) async throws -> Command.Result {
        let interpreter = try #require(ProcessInfo.processInfo.environment["COUNTERSIGN_PYTHON"])
        return try await Command.run(
            interpreter, [RunningService.root.appending(path: "Tests/Model/\(script)").path], seconds: seconds)
    }
}
