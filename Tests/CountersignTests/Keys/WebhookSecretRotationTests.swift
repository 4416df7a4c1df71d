import Domain
import Fixtures
import Foundation
import Testing

@testable import countersign

@Suite("Rotating the webhook's secret")
struct WebhookSecretRotationTests {
    @Test("Both secrets sign before the former one goes, and each step waits for all nodes")
    func twoSteps() throws {
        let bench = try RotationBench()
        let file = KeyFiles.file(.webhookSecret, in: bench.directory)
        bench.expectRefused(.stage, of: .webhook, "is missing or empty")
        let first = "whsec_" + Data(repeating: 7, count: 32).base64EncodedString()
        try file.create(first)
        for node in [0, 1] { try bench.restart(node) }
        bench.expectRefused(.use, of: .webhook, "--stage")
        #expect(try bench.run(.stage, of: .webhook).changed == [file.path])
        #expect(try bench.run(.stage, of: .webhook).changed.isEmpty)
        let lines = try file.read().split(separator: "\n").map(String.init)
        #expect(lines.count == 2 && lines.first == first && lines.last != first)
        #expect(
            lines.allSatisfy { $0.hasPrefix("whsec_") && Data(base64Encoded: String($0.dropFirst(6)))?.count == 32 })
        try bench.restart(0)
        bench.expectRefused(.use, of: .webhook, "has not read the new key")
        try bench.restart(1)
        bench.expectRefused(.prune, of: .webhook, "--prune")
        #expect(try bench.run(.use, of: .webhook).changed == [file.path])
        #expect(try file.read() == lines[1] + "\n")
        for node in [0, 1] { try bench.restart(node) }
        bench.expectRefused(.use, of: .webhook, "--stage")
    }

    @Test("A node with no secret of the others is kept out")
    func unstaged() throws {
        let bench = try RotationBench()
        let file = KeyFiles.file(.webhookSecret, in: bench.directory)
        try file.create("whsec_first")
        for node in [0, 1] { try bench.restart(node) }
        let before = bench.members[1]
        try file.replace("whsec_first\nwhsec_next")
        try bench.restart(0)
        try file.replace("whsec_next")
        try bench.restart(1)
        let found = NodeAgreement.disagreements(
            of: bench.members[1].fingerprints, with: [before], allowsOtherPolicies: false, now: bench.now)
        #expect(!found.isEmpty)
    }
}
