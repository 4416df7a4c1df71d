import Fixtures
import Foundation
import Testing

@Suite("What a newcomer starts", .serialized)
struct TourTests {
    @Test("walks from a new device to two verified users, one of whom is banned, with the sample provider")
    func tour() async throws {
        let service = try await RunningService()
        try await expectScript(
            "tour.py",
            service.clientArguments + [
                "--countersign", try RunningService.product("countersign"), "--sample",
                try RunningService.product("sample-provider"), "--directory", service.directory.path,
            ], seconds: 120)
    }

    @Test("is the README's flow in curl, as it stands there")
    func readme() async throws {
        let service = try await RunningService()
        try await expectScript(
            "readme.py",
            service.clientArguments + [
                "--sample", try RunningService.product("sample-provider"), "--readme",
                RunningService.root.appending(path: "README.md").path,
            ], seconds: 120)
    }

    @Test("is a sample provider that registers, logs in, signs and limits guesses, judged by PyJWT")
    func sampleProvider() async throws {
        try await expectScript(
            "sample.py", ["--binary", try RunningService.product("sample-provider")], seconds: 120)
    }
}
