import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Cards

@Suite("Machine readable zones before an independent judge")
struct IndependentZoneTests {
    /// Asks the Python package `mrz` once about many zones. The interpreter that has it is `COUNTERSIGN_PYTHON`'s.
    private func ask(_ lines: [String]) async throws -> [JSONValue] {
        let interpreter = try #require(
            ProcessInfo.processInfo.environment["COUNTERSIGN_PYTHON"],
            "COUNTERSIGN_PYTHON must name a Python that has mrz: run the tests with make test")
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Interop/Cards/judge_mrz.py")
        let result = try await Command.run(
            interpreter, [script.path], input: Data(lines.joined(separator: "\n").utf8), seconds: 400)
        try #require(result.status == 0, "judge_mrz.py failed: \(result.errors)")
        let answers = try result.output.split(separator: "\n").map { try StrictJSON.parse($0.utf8) }
        try #require(answers.count == lines.count)
        return answers
    }

    private func random(_ generator: inout SeededRandom, _ alphabet: String, _ count: ClosedRange<Int>) -> String {
        let letters = Array(alphabet)
        return String(
            (0..<Int.random(in: count, using: &generator)).compactMap { _ in letters.randomElement(using: &generator) })
    }

    private func date(_ generator: inout SeededRandom, years: ClosedRange<Int>) -> String {
        let parts = [
            Int.random(in: years, using: &generator), Int.random(in: 1...12, using: &generator),
            Int.random(in: 1...28, using: &generator),
        ]
        return parts.map { String(String(100 + $0).suffix(2)) }.joined()
    }

    private let capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    private let both = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

    private func specimens(_ count: Int, seed: UInt64) -> [MachineReadableSpecimen] {
        var generator = SeededRandom(seed: seed)
        return (0..<count).map { index in
            var specimen = MachineReadableSpecimen(MachineReadableFormat.allCases[index % 3])
            specimen.state = random(&generator, capitals, 3...3)
            specimen.nationality = random(&generator, capitals, 3...3)
            specimen.family = random(&generator, capitals, 1...12)
            specimen.given = random(&generator, capitals, 1...8)
            specimen.number = random(&generator, both, 5...9)
            specimen.birth = date(&generator, years: 27...99)
            specimen.expiry = date(&generator, years: 27...75)
            specimen.sex = random(&generator, "MF", 1...1)
            specimen.optionalData = random(&generator, both, 0...7)
            return specimen
        }
    }

    @Test("have the same check digits fit and fail for both, bent or not")
    func reading() async throws {
        var generator = SeededRandom(seed: 11)
        let texts = specimens(600, seed: 5).flatMap { specimen -> [String] in
            let good = specimen.text
            var bent = Array(good.utf8)
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let place = Int.random(in: 6..<bent.count, using: &generator)
                if bent[place] != 0x0A { bent[place] = random(&generator, both + "<", 1...1).utf8.first ?? 0x3C }
            }
            return [good, String(decoding: bent, as: UTF8.self)]
        }
        let answers = try await ask(
            texts.map { JSONValue.object([JSONMember(name: "read", value: .string($0))]).jsonText })
        var fitting = 0
        for (text, answer) in zip(texts, answers) {
            let zone = try MachineReadableZone.read(text, today: today)
            for digit in zone.checkDigits {
                // A number whose digit is left out goes on in the optional data, which the package does not know.
                let isOverflow =
                    digit.field == .documentNumber && digit.fits && zone.identityCard.documentNumber.count > 9
                #expect(isOverflow || answer[digit.field.rawValue] == .bool(digit.fits), "\(text) \(digit.field)")
            }
            fitting += zone.allCheckDigitsFit ? 1 : 0
        }
        #expect((600..<1000).contains(fitting))
    }

    @Test("that the other implementation writes are read as what it was told")
    func writing() async throws {
        let all = specimens(300, seed: 23)
        let lines = all.map { specimen in
            let members: [(String, String)] = [
                ("format", specimen.format.rawValue), ("code", specimen.format == .td3 ? "P" : "I"),
                ("state", specimen.state), ("number", specimen.number), ("birth", specimen.birth),
                ("sex", specimen.sex), ("expiry", specimen.expiry), ("nationality", specimen.nationality),
                ("family", specimen.family), ("given", specimen.given), ("optional", specimen.optionalData),
            ]
            let card = JSONValue.object(members.map { JSONMember(name: $0, value: .string($1)) })
            return JSONValue.object([JSONMember(name: "write", value: card)]).jsonText
        }
        for (specimen, answer) in zip(all, try await ask(lines)) {
            let text = try #require(answer["zone"]?.text)
            #expect(text == specimen.text)
            let zone = try MachineReadableZone.read(text, today: today)
            #expect(zone.identityCard.documentNumber == specimen.number)
            #expect(zone.identityCard.name.family == specimen.family)
            #expect(zone.identityCard.name.given == specimen.given)
            #expect(zone.allCheckDigitsFit)
        }
    }
}
