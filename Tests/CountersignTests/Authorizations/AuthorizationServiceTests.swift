import Fixtures
import Foundation
import Testing

/// Two users of the built binary who ask each other for permission to message.
@Suite("Authorizations in the running service", .serialized)
struct AuthorizationServiceTests {
    @Test("go from two cards over a request, an approval and their pushes by Amazon SNS to their end")
    func walk() async throws {
        let service = try await RunningService()
        let arguments = service.clientArguments
        #expect(service.stop() == 0)
        try await expectScript(
            "Authorizations/authorizations.py",
            arguments + [
                "--countersign", try RunningService.product("countersign"), "--directory", service.directory.path,
            ], seconds: 400)
    }
}
