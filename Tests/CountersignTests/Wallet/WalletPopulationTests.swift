import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Testing

@testable import countersign

/// Other programs make and encrypt the answers, and other verifiers judge them first.
@Suite("A population of credentials of other programs")
struct WalletPopulationTests {
    /// A format and a way to the wallet, as the script names them.
    struct Way: Sendable, CustomTestStringConvertible {
        let kind: String
        let channel: String

        var testDescription: String { "\(kind) by \(channel)" }

        static let all = [
            Way(kind: "mdl", channel: "dc_api"), Way(kind: "mdl", channel: "same_device"),
            Way(kind: "mdl", channel: "annex_c"), Way(kind: "pid", channel: "dc_api"),
            Way(kind: "pid", channel: "same_device"),
        ]
    }

    @Test(
        "is accepted for its own requests alone, here and by every other verifier that supports the way",
        arguments: Way.all)
    func agreement(way: Way) async throws {
        let directory = try TemporaryDirectory()
        let count = Soak.count(8, soak: 1_000)
        let seed = UInt32.random(in: 0...UInt32.max)
        let printed = try await expectScript(
            "Wallet/population.py",
            [
                "--directory", directory.path, "--kind", way.kind, "--channel", way.channel, "--count", "\(count)",
                "--seed", "\(seed)",
            ])
        #expect(printed == "\(count) accepted, \(count) refused\n")
        let verifier = PresentationVerifier(
            trust: try IssuerFiles.trust(in: directory.path), status: .ifPresent, lists: [])
        let text = try String(contentsOfFile: "\(directory.path)/answers.jsonl", encoding: .utf8)
        let lines = text.split(separator: "\n")
        #expect(lines.count == 2 * count)
        var disagreements: [String] = []
        for (number, line) in lines.enumerated() {
            let json = try StrictJSON.parse(Array(line.utf8))
            let capture = try WalletCapture(json)
            var reason: String?
            do throws(PresentationDefect) {
                _ = try verifier.verify(capture.answer, to: capture.request, now: Date())
            } catch {
                reason = error.reason.rawValue
            }
            let expected = json["expected"]?.text
            if reason != expected {
                disagreements.append("line \(number): \(reason ?? "accepted") in place of \(expected ?? "accepted")")
            }
        }
        #expect(disagreements.isEmpty, "seed \(seed): \(disagreements.prefix(5))")
    }
}
