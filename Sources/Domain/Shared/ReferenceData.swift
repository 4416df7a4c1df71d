import Encoding
import Foundation

/// A table in the sources whose facts others publish and change, such as the numbering plans of the world.
///
/// ``all`` lists each of them. A test finds tables without a row.
package struct ReferenceData: Sendable {
    /// Its name in lists and metrics.
    package let name: String
    /// The publisher, and what it publishes.
    package let source: String
    /// The version or edition of the source, or `no edition`.
    package let version: String
    /// The day on which the source had these facts: when it released that version, or when the two were compared.
    package let date: CalendarDate
    /// The file of the table, below `Sources`.
    package let file: String

    /// A day that does not exist makes the table one of the far future, which a test refuses.
    private init(
        _ name: String, in file: String, _ source: String, _ version: String = "no edition",
        on day: (year: Int, month: Int, day: Int)
    ) {
        self.name = name
        self.source = source
        self.version = version
        self.file = file
        date = CalendarDate(year: day.year, month: day.month, day: day.day) ?? .never
    }

    /// The age in whole days; 0 for a clock that is set to an earlier day.
    package func days(at now: Date) -> Int {
        Int(saturating: max(0, now.timeIntervalSince(date.start) / 86_400))
    }

    /// All tables, by name.
    package static let all = [
        ReferenceData(
            "address_ranges", in: "Encoding/Web/IPAddress.swift", "IANA's registries of special-purpose addresses",
            on: (2026, 11, 22)),
        ReferenceData(
            "card_jurisdictions", in: "Cards/Shared/JurisdictionTable.swift",
            "AAMVA's issuer numbers, postal areas of USPS and Canada Post, published forms of licence numbers",
            on: (2026, 11, 21)),
        ReferenceData(
            "card_number_rules", in: "Cards/Evaluation/IssuerNumberRule.swift",
            "public descriptions of how states and provinces number licences", on: (2026, 11, 25)),
        ReferenceData(
            "card_specimens", in: "Cards/Evaluation/PublishedSpecimen.swift",
            "specimens that AAMVA, ICAO and states publish", on: (2026, 11, 25)),
        ReferenceData(
            "country_codes", in: "Cards/MRZ/IssuingState.swift", "ICAO Doc 9303-3, codes of states", "8th edition",
            on: (2026, 11, 25)),
        ReferenceData(
            "national_numbers", in: "Cards/MRZ/NationalNumber.swift", "python-stdnum, which judges the same numbers",
            "2.2", on: (2026, 11, 25)),
        ReferenceData(
            "numbering_plans", in: "PhoneNumbers/PhoneMetadata.swift", "libphonenumber's metadata", "9.0.43",
            on: (2026, 11, 6)),
    ]
}
