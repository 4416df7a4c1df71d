import Cards
import Domain
import Fixtures
import Foundation
import Testing

/// The day on which tests judge cards.
let today = CardSpecimen.day(2026, 11, 21)

extension CardSpecimen {
    /// A specimen of a jurisdiction that is in the table.
    static func of(
        _ code: String = "VA", version: Int = 10, change: (inout CardSpecimen) -> Void = { _ in }
    ) throws -> CardSpecimen {
        var specimen = try #require(CardSpecimen(code, version: version))
        change(&specimen)
        return specimen
    }

    /// What the reader makes of it.
    func read() throws -> AAMVACard { try AAMVACard.read(bytes) }

    /// What the checks say of it.
    func assessed(policy: CardPolicy = CardPolicy(), displayName: String? = "Michael Sample") throws -> CardAssessment {
        CardAssessment(
            try .read(barcode: bytes, today: today), at: today.noon, policy: policy, displayName: displayName)
    }
}

extension CalendarDate {
    /// The middle of the day in UTC, when it is the same day in the Americas.
    var noon: Date { start.addingTimeInterval(12 * 3600) }
}

extension CardAssessment {
    /// The names of the checks that failed.
    var failed: Set<CardCheck.Name> { Set(failures.map(\.name)) }

    /// What came of one check.
    func result(_ name: CardCheck.Name) -> CardCheck.Result? { checks.first { $0.name == name }?.result }
}
