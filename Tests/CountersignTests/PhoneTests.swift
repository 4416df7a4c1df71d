import Fixtures
import Foundation
import Testing

/// Phone verification through the built binary.
@Suite("Phone verification in the running service", .serialized)
struct PhoneTests {
    private func script(_ what: String, _ service: RunningService) async throws {
        try await expectScript(
            "phone.py",
            [what] + service.clientArguments + [
                "--countersign", try RunningService.product("countersign"), "--directory", service.directory.path,
            ], seconds: 300)
    }

    @Test("Two hundred guesses at once on two processes are five guesses, and one right code of forty succeeds")
    func guesses() async throws {
        let service = try await RunningService()
        try await script("guesses", service)
        // What was texted stands neither in the log nor, in clear, in the store.
        let log = try String(contentsOf: service.path("log"), encoding: .utf8)
        let store =
            try Data(contentsOf: service.path("store.db")) + (try Data(contentsOf: service.path("store.db-wal")))
        #expect(!log.contains("4155552671"))
        #expect(store.firstRange(of: Data("4155552671".utf8)) == nil)
    }

    @Test("A service that is killed amid 1,000 texts loses none and sends fewer than ten twice")
    func crash() async throws {
        let service = try await RunningService()
        try await script("crash", service)
    }
}
