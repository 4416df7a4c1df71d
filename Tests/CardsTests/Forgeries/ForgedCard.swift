import Cards
import Domain
import Fixtures
import Foundation
import Testing

/// A card of `forged_cards.py`.
struct ForgedCard: Decodable {
    /// What sort of mistake the forger made; `consistent` where there is none to see, `honest` where nothing is forged.
    let group: String
    let kind: String
    /// What the forger got wrong, or how an honest card departs from the standard.
    let wrong: String
    /// The issuer, and the version or size.
    let place: String
    /// The holder's name, under which the account is.
    let name: String
    let format: String
    let text: Data

    /// What becomes of a card.
    enum Outcome: String {
        case verified, reviewed, refused
    }

    /// The output of `forged_cards.py` with these arguments.
    static func written(_ arguments: [String]) async throws -> String {
        let interpreter = try #require(
            ProcessInfo.processInfo.environment["COUNTERSIGN_PYTHON"],
            "COUNTERSIGN_PYTHON must name a Python: run the tests with make test")
        let script = RunningService.root.appending(path: "Tests/Interop/Forgeries/forged_cards.py").path
        let result = try await Command.run(
            interpreter, ["-B", script, "--today", today.text] + arguments, seconds: 400)
        try #require(result.status == 0, "forged_cards.py failed: \(result.errors)")
        return result.output
    }

    /// The cards that `forged_cards.py` writes with these arguments.
    static func all(_ arguments: String...) async throws -> [ForgedCard] {
        let decoder = JSONDecoder()
        return try await written(arguments).utf8.split(separator: UInt8(ascii: "\n"))
            .map { try decoder.decode(ForgedCard.self, from: Data($0)) }
    }

    /// What becomes of the card, and the checks that it fails or the reason why it is not read.
    func judged() -> (outcome: Outcome, why: String) {
        do throws(Refusal) {
            let assessment = CardAssessment(try read(), at: today.noon, policy: CardPolicy(), displayName: name)
            let failed = assessment.failed.map(\.rawValue).sorted().joined(separator: " ")
            switch assessment.verdict {
            case .accepted: return (.verified, failed)
            case .inReview: return (.reviewed, failed)
            case .rejected: return (.refused, failed)
            }
        } catch {
            return (.refused, error.detail)
        }
    }

    private func read() throws(Refusal) -> ScannedCard {
        guard format == "zone" else { return try ScannedCard.read(barcode: Array(text), today: today) }
        return .machineReadable(try MachineReadableZone.read(String(decoding: text, as: UTF8.self), today: today))
    }

    /// The card in one line, for messages.
    var example: String {
        let shown = String(decoding: text, as: UTF8.self).unicodeScalars.map { scalar in
            scalar.value < 0x20 ? "⏎" : String(scalar)
        }
        return "\(place) \(name) \(wrong): \(shown.joined())"
    }
}

/// What became of many cards, kind by kind.
struct ForgedCardTable {
    private var counts: [String: [ForgedCard.Outcome: Int]] = [:]
    /// How often a kind had an outcome for the same reason, with one of those cards.
    private var reasons: [ForgedCard.Outcome: [String: (count: Int, example: String)]] = [:]

    init(_ cards: [ForgedCard]) {
        for card in cards {
            let (outcome, why) = card.judged()
            let kind = "\(card.group) \(card.kind)"
            counts[kind, default: [:]][outcome, default: 0] += 1
            reasons[outcome, default: [:]]["\(kind) [\(why)]", default: (0, card.example)].count += 1
        }
    }

    /// How many cards there are.
    var total: Int { counts.values.flatMap(\.values).reduce(0, +) }

    func count(_ outcome: ForgedCard.Outcome) -> Int { counts.values.compactMap { $0[outcome] }.reduce(0, +) }

    /// A row for every kind, and one for all.
    var text: String {
        let rows = counts.sorted { $0.key < $1.key }.map { kind, found in row(kind) { found[$0] ?? 0 } }
        return ([Self.head] + rows + [row("all", of: count)]).joined(separator: "\n")
    }

    /// The kinds and failed checks with the most cards of an outcome, each with one of them.
    func worst(_ outcome: ForgedCard.Outcome) -> String {
        (reasons[outcome] ?? [:]).sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }.prefix(12)
            .map { "\($0.value.count) × \($0.key), for example \($0.value.example)" }.joined(separator: "\n")
    }

    private static let head = "kind".padding(toLength: 44, withPad: " ", startingAt: 0) + "verified  reviewed  refused"

    private func row(_ kind: String, of count: (ForgedCard.Outcome) -> Int) -> String {
        kind.padding(toLength: 44, withPad: " ", startingAt: 0)
            + "\(count(.verified))".padding(toLength: 10, withPad: " ", startingAt: 0)
            + "\(count(.reviewed))".padding(toLength: 10, withPad: " ", startingAt: 0) + "\(count(.refused))"
    }
}
