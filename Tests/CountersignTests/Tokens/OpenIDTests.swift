import Fixtures
import Foundation
import Testing

@Suite("A real OpenID provider")
struct OpenIDTests {
    @Test("is registered by its URL, and signs its users in by its ID tokens")
    func glewlwyd() async throws {
        let scratch = try ScratchDirectory()
        try await expectScript(
            "openid.py",
            [
                "--countersign", try RunningService.product("countersign"), "--policies",
                RunningService.root.appending(path: "Policies").path, "--directory", scratch.path,
            ], seconds: 120)
    }
}
