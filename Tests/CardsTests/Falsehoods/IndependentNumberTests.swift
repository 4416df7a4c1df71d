import Cards
import Domain
import Fixtures
import Foundation
import Testing

@Suite("National numbers before an independent judge")
struct IndependentNumberTests {
    /// What comes before the check digits: of people born on 22 August 1974, where the number says so.
    private static let forms: [(state: String, head: String, digits: Int)] = [
        ("BEL", "740822", 5), ("EST", "4740822", 4), ("SWE", "19740822", 4), ("ROU", "274082212", 4),
        ("BGR", "740822", 4),
        ("LTU", "3740822", 4), ("POL", "740822", 5), ("CZE", "740822", 4), ("SVK", "745822", 4),
        ("HRV", "", 11), ("ESP", "", 8), ("ESP", "X", 7),
    ]

    @Test("have the same check digits right and wrong for both")
    func judged() async throws {
        let interpreter = try #require(
            ProcessInfo.processInfo.environment["COUNTERSIGN_PYTHON"],
            "COUNTERSIGN_PYTHON must name a Python that has python-stdnum: run the tests with make test")
        var random = SeededRandom(seed: 17)
        var numbers: [(state: String, number: String)] = []
        for form in Self.forms {
            for _ in 0..<400 {
                let rest = (0..<form.digits).map { _ in String(Int.random(in: 0...9, using: &random)) }.joined()
                let letter = form.state == "ESP" ? "TRWAGMYFPDXBNJZSQVHLCKE".randomElement(using: &random) : nil
                numbers.append((form.state, form.head + rest + (letter.map { String($0) } ?? "")))
            }
        }
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Interop/Cards/judge_numbers.py")
        let lines = numbers.map { "\($0.state) \($0.number)" }.joined(separator: "\n")
        let result = try await Command.run(interpreter, [script.path], input: Data(lines.utf8), seconds: 400)
        try #require(result.status == 0, "judge_numbers.py failed: \(result.errors)")
        let answers = result.output.split(separator: "\n")
        try #require(answers.count == numbers.count)
        var right = 0
        for ((state, number), answer) in zip(numbers, answers) {
            var zone = MachineReadableSpecimen(.td1)
            (zone.state, zone.nationality, zone.optionalData) = (state, state, number)
            // The numbers are of either sex.
            zone.sex = "<"
            let assessment = CardAssessment(
                .machineReadable(try MachineReadableZone.read(zone.text, today: today)), at: today.noon,
                policy: CardPolicy(), displayName: nil)
            #expect((assessment.result(.contradiction) == .passed) == (answer == "True"), "\(state) \(number)")
            right += answer == "True" ? 1 : 0
        }
        // About a tenth has the right digit by chance.
        #expect(right > 100)
    }
}
