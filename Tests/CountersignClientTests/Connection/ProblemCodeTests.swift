import CountersignClient
import Domain
import Fixtures
import Foundation
import Testing

@Suite("The codes of refusals")
struct ProblemCodeTests {
    @Test("have a name in the SDK, all but those that only a provider's backend gets")
    func names() throws {
        let file = RunningService.root.appending(path: "Sources/SwiftSDK/CountersignClient/Failures/Problem.swift")
        let text = try String(contentsOf: file, encoding: .utf8)
        let ofBackends: Set<Domain.Refusal.Code> = [
            .providerTokenRequired, .providerTokenInvalid, .insufficientScope, .invalidProviderKey,
        ]
        for code in Domain.Refusal.Code.allCases where !ofBackends.contains(code) {
            #expect(text.contains("Code(rawValue: \"\(code.rawValue)\")"), "\(code.rawValue)")
        }
    }
}
