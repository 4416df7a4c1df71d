import Domain
import Encoding
import Foundation

/// A table in the sources with facts that others publish and change, such as the numbering plans of the world.
///
/// A test checks that ``all`` lists every table.
struct ReferenceData: Sendable {
    /// The table's name in lists and metrics.
    let name: String
    /// The publisher, and what it publishes.
    let source: String
    /// The version or edition of the source, or `no edition`.
    let version: String
    /// The day on which the source had these facts: when it released the version, or when they were compared.
    let date: CalendarDate
    /// The path of its source file below `Sources`.
    let file: String

    /// A date that does not exist becomes one in the far future, which a test refuses.
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
}

extension ReferenceData {
    /// The age in whole days; 0 if the date is in the future.
    func days(at now: Date) -> Int {
        Int(saturating: max(0, now.timeIntervalSince(date.start) / 86_400))
    }

    /// All tables, in the order of their names.
    static let all = [
        ReferenceData(
            "address_ranges", in: "SwiftSDK/Encoding/Web/IPAddress.swift",
            "IANA's registries of special-purpose addresses", on: (2026, 11, 22)),
        ReferenceData(
            "attestation_roots", in: "Authority/Attestation/PublishedRoots.swift",
            "keys of the roots that Apple and Google publish for attestations", on: (2026, 11, 26)),
        ReferenceData(
            "card_jurisdictions", in: "Cards/Shared/JurisdictionTable.swift",
            "AAMVA's issuer numbers, postal areas of USPS and Canada Post, published forms of licence numbers",
            on: (2026, 11, 21)),
        ReferenceData(
            "card_number_rules", in: "Cards/Evaluation/IssuerNumberRule.swift",
            "public descriptions of how states and provinces number licences", on: (2026, 11, 26)),
        ReferenceData(
            "card_specimens", in: "Cards/Evaluation/PublishedSpecimen.swift",
            "specimens that AAMVA, ICAO and states publish", on: (2026, 11, 26)),
        ReferenceData(
            "country_codes", in: "Cards/MRZ/IssuingState.swift", "ICAO Doc 9303-3, codes of states", "8th edition",
            on: (2026, 11, 25)),
        ReferenceData(
            "national_numbers", in: "Cards/MRZ/NationalNumber.swift", "python-stdnum, which validates the same numbers",
            "2.2", on: (2026, 11, 26)),
        ReferenceData(
            "numbering_plans", in: "PhoneNumbers/PhoneMetadata.swift", "libphonenumber's metadata", "9.0.43",
            on: (2026, 11, 6)),
    ]
}
