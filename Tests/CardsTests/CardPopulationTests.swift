import Cards
import Domain
import Fixtures
import Foundation
import Testing

/// Ten thousand invented people's cards from a generator in another language that shares no code and no table with the
/// reader: every jurisdiction in every version, with the departures of real cards.
@Suite("Cards of a whole population")
struct CardPopulationTests {
    @Test("are verified but for three in a hundred, and none that contradicts itself is")
    func population() async throws {
        let interpreter = try #require(
            ProcessInfo.processInfo.environment["COUNTERSIGN_PYTHON"],
            "COUNTERSIGN_PYTHON must name a Python: run the tests with make test")
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Interop/Cards/card_population.py")
        let result = try await Command.run(
            interpreter, [script.path, "--seed", "10", "--today", today.text], seconds: 400)
        try #require(result.status == 0, "card_population.py failed: \(result.errors)")

        var counts: [String: Int] = [:]
        var (unread, others, unlikeNames) = ([String](), [String](), 0)
        for line in result.output.utf8.split(separator: UInt8(ascii: "\n")) {
            let parts = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
                .map { String(decoding: $0, as: UTF8.self) }
            try #require(parts.count == 5)
            let (said, name) = (parts[0], parts[3])
            let bytes = Array(try #require(Data(base64Encoded: parts[4])))
            let verdict: String
            do throws(Refusal) {
                let card = try ScannedCard.read(barcode: bytes, today: today)
                let assessment = CardAssessment(
                    card, at: today.noon, policy: CardPolicy(), displayName: name.isEmpty ? nil : name)
                verdict = assessment.verdict.rawValue
                if said == "consistent" {
                    if assessment.result(.name) == .failed { unlikeNames += 1 }
                    if assessment.verdict != .accepted, !assessment.failed.contains(.issuer) {
                        let failed = assessment.failed.subtracting([.conformance]).map(\.rawValue).sorted()
                        others.append("\(parts[1]) [\(parts[2])]: \(failed.joined(separator: " "))")
                    }
                    #expect(CardFacts(card.identityCard) != nil || assessment.verdict == .rejected)
                }
            } catch {
                verdict = "unread"
                unread.append("\(said) \(parts[1]) [\(parts[2])]: \(error.detail)")
            }
            counts[(said == "consistent" ? "consistent " : "contradicting ") + verdict, default: 0] += 1
        }
        let consistent = counts.filter { $0.key.hasPrefix("consistent") }.values.reduce(0, +)
        #expect(consistent == 8000)
        #expect(counts.values.reduce(0, +) == 10_000)
        #expect(unread.isEmpty, "\(unread.prefix(10))")
        #expect(counts["contradicting accepted"] == nil)
        #expect(counts["consistent accepted", default: 0] * 100 >= consistent * 97, "\(counts) \(others.prefix(20))")
        // What stops a card that does not contradict itself is an issuer number that is nobody's, and nothing else.
        #expect(others.isEmpty, "\(others.prefix(9))")
        let figures = counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        print("cards of a population: \(figures); display names that the card does not fit \(unlikeNames)")
    }
}
