import Fixtures
import Foundation
import Testing

/// The console of the built binary, over TLS.
@Suite("The console of the running service", .serialized)
struct ConsoleServiceTests {
    @Test("lets in administrators only, and ends their connections with their certificates, on every node")
    func walk() async throws {
        let scratch = try ScratchDirectory()
        try await expectScript(
            "Console/console.py",
            [
                "--countersign", try RunningService.product("countersign"), "--policies",
                RunningService.root.appending(path: "Policies").path, "--directory", scratch.path,
            ], seconds: 400)
    }
}
