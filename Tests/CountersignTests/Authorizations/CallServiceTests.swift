import Fixtures
import Foundation
import Testing

/// STUN by the built binary, and its credentials for a TURN server, judged by coturn's tools and aioice.
@Suite("Calls in the running service", .serialized)
struct CallServiceTests {
    @Test("find their way by STUN and TURN, and what is malformed or too much gets no answer")
    func walk() async throws {
        let service = try await RunningService()
        let arguments = service.clientArguments
        #expect(service.stop() == 0)
        try await expectScript(
            "Authorizations/calls.py",
            arguments + [
                "--countersign", try RunningService.product("countersign"), "--directory", service.directory.path,
            ], seconds: 400)
    }
}
