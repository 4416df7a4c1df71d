import Fixtures
import Testing

@testable import Operations

@Suite("The shared verification of the audit log")
struct SharedVerificationTests {
    @Test("reads the log once for all who ask meanwhile, and again for those who ask later")
    func shared() async throws {
        let verification = SharedVerification()
        let runs = Counter()
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let first = Task {
            try await verification {
                start.yield()
                for await _ in ended { break }
                return VerifyAudit.Report(entries: 7)
            }
        }
        for await _ in started { break }
        let others = (0..<20).map { _ in
            Task {
                try await verification {
                    runs.add()
                    return VerifyAudit.Report(entries: 8)
                }
            }
        }
        // The first one ends after the others have asked.
        try await Task.sleep(for: .milliseconds(100))
        end.yield()
        #expect(try await first.value.entries == 7)
        for other in others { #expect(try await other.value.entries == 7) }
        #expect(runs.count == 0)
        #expect(try await verification { VerifyAudit.Report(entries: 9) }.entries == 9)
    }
}
