import Fixtures
import Testing

/// One place draws the consequences of a change: nobody can forget one.
@Suite("The consequences of a change")
struct ConsequenceRuleTests {
    /// What must be called from one place, and from where.
    private static var rules: [(call: Regex<Substring>, files: Set<String>)] {
        [
            // Change notices and security events: inside the transaction.
            (/ChangeLog\([^()]*\)\.append\(/, ["Commit.swift"]),
            (/(?:ProviderWebhookRepository\([^()]*\)|webhooks)\.enqueue\(/, ["Commit.swift"]),
            (/\.enqueue\(\s*\.(?:sessionRevoked|assuranceLevelChanged|account\w+)/, []),
            // Memories, connections and the outbox's loop: after the commit.
            (/(?:sessions|providers|administrators)\.drop(?:All)?[ (]/, ["ServingNode.swift"]),
            (/certificates\.(?:refresh|doubtAll|settleSome)\(/, ["ServingNode.swift"]),
            (/sessions\.remember\(/, ["ServingNode.swift"]),
            (/outbox(?:Signal)?\.ring\(/, ["Server.swift"]),
            (/onMessage\(|onUserBan\(|onDeviceChange\(/, ["ServingNode.swift"]),
        ]
    }

    @Test("are drawn in one place")
    func onePlace() throws {
        let files = try ["Operations", "countersign", "API"].flatMap { try SourceFile.all(below: "Sources/\($0)") }
        #expect(files.count > 200)
        for (call, places) in Self.rules {
            let callers = Set(files.filter { $0.text.contains(call) }.map(\.name))
            #expect(callers == places)
        }
    }

    @Test("include the audit entry: nobody else writes one but the tools for a store that nobody serves")
    func audit() throws {
        let writers = try SourceFile.all(below: "Sources/Operations").filter {
            $0.text.contains(/\bAuditRepository\(transaction\)/)
        }.map(\.name)
        #expect(Set(writers) == ["Commit.swift", "CopyStore.swift", "ReplayBans.swift", "RestoreStore.swift"])
    }

    @Test("begin with a state that changes by the machines alone: each event has its callers")
    func machines() throws {
        let files = try ["Domain", "Operations"].flatMap { try SourceFile.all(below: "Sources/\($0)") }
        let callers: [String: Set<String>] = [
            ".create": ["OpenSession.swift"], ".renew": ["RenewSession.swift"],
            ".challenge": ["ManageSessions.swift", "SessionTransition.swift"],
            ".destroy": ["ManageSessions.swift", "SessionTransition.swift"],
            ".certify": ["CertifyDevice.swift", "ClientConnection.swift"], ".connect": ["ClientConnection.swift"],
        ]
        for (event, expected) in callers {
            let found = files.filter {
                $0.text.contains("after(\(event))") || $0.text.contains("after(\(event), while")
                    || $0.text.contains("SessionTransition(\(event), ")
            }
            #expect(Set(found.map(\.name)) == expected, "\(event)")
        }
        // No other file writes the state of a session. All take what they write from the machine.
        let writers = try SourceFile.all(below: "Sources/Repositories").filter {
            $0.text.contains(/UPDATE sessions SET[^"]*\bstate =/)
        }
        #expect(
            Set(writers.map(\.name)) == [
                "SessionRepository.swift", "SharedSessionEnd.swift", "SessionReplacement.swift",
            ])
    }
}
