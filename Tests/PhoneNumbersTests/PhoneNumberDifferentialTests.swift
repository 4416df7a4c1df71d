import Fixtures
import Foundation
import PhoneNumbers
import Testing

/// Against `phonenumbers`, libphonenumber's port to Python, at the version that the metadata was made from.
@Suite("Agreement with phonenumbers")
struct PhoneNumberDifferentialTests {
    private struct Verdict: Decodable, Equatable {
        var e164: String?
        var region: String?
        var type: String?
        var reason: String?
    }

    private struct Case: Decodable {
        let text: String
        let region: String?
        let verdict: Verdict
        /// Whether `phonenumbers` takes for valid what is refused here by decision.
        let stricter: Bool
    }

    /// What is refused here and valid there, by decision: see *Telephone numbers* in `Decisions/Identity.md`.
    private static let decided: Set<String> = [
        "letters", "extension", "not_a_number", "region_unknown", "too_many_characters",
    ]

    private func python(_ script: String, _ arguments: [String]) async throws -> String {
        let path = RunningService.root.appending(path: "Tests/Interop/\(script)").path
        let result = try await Command.run(try Command.python("python"), [path] + arguments, seconds: 400)
        try #require(result.status == 0, "\(result.errors)")
        return result.output
    }

    private func judge(_ text: String, _ region: String?) -> Verdict {
        do {
            let number = try PhoneNumber(reading: text, region: region)
            return Verdict(e164: number.e164, region: number.region, type: number.type.rawValue)
        } catch {
            return Verdict(reason: error.rawValue)
        }
    }

    @Test("Thousands of texts get the same number, region and type, or are refused for the same reason")
    func agreement() async throws {
        let decoder = JSONDecoder()
        let count = Soak.count(4_000, soak: 20_000)
        let cases = try await python("Phone/phone_numbers.py", ["\(count)", "20261121"]).split(separator: "\n").map {
            try decoder.decode(Case.self, from: Data($0.utf8))
        }
        #expect(cases.count == count)
        var valid = 0
        var regions: Set<String> = []
        var types: Set<String> = []
        var differences: [String: Int] = [:]
        for judged in cases {
            let ours = judge(judged.text, judged.region)
            #expect(ours == judged.verdict, "\(judged.text.debugDescription) \(judged.region ?? "without region")")
            if let e164 = ours.e164, let region = ours.region, let type = ours.type {
                valid += 1
                regions.insert(region)
                types.insert(type)
                #expect(PhoneNumber(canonical: e164)?.region == region, "\(e164)")
            }
            if judged.stricter { differences[ours.reason ?? "none", default: 0] += 1 }
        }
        #expect(valid > count * 2 / 5)
        #expect(regions.count > Soak.count(225, soak: 235))
        #expect(types == Set(PhoneNumber.NumberType.allCases.map(\.rawValue)).subtracting(["unknown"]))
        #expect(Set(differences.keys).isSubset(of: Self.decided))
        // All other 95 % and more agree entirely.
        #expect(differences.values.reduce(0, +) < count / 20, "\(differences)")
    }

    @Test("the metadata is what the script makes of the pinned version, byte for byte")
    func regeneration() async throws {
        let committed = RunningService.root.appending(path: "Sources/PhoneNumbers/PhoneMetadata.swift")
        #expect(try await python("Phone/make_phone_metadata.py", []) == String(contentsOf: committed, encoding: .utf8))
    }
}
