import Domain

/// Canonical texts that identify a document and a person. They contain personal data, so only a keyed digest of them
/// (a blind index) may be stored.
package struct CardFingerprint: Sendable, Equatable, Confidential {
    /// Identifies one document and its renewals: country, jurisdiction, kind and normalised number. `nil` without a
    /// number.
    package let document: String?
    /// Identifies one person: folded name, birthday and the first five characters of the postal code. `nil` without
    /// name or birthday. A document without an address gives another text than one with an address.
    package let person: String?

    /// Derives both texts from a card.
    package init(_ card: IdentityCard) {
        let number = card.normalisedNumber
        document =
            number.isEmpty
            ? nil : Self.join("document", [card.country ?? "", card.jurisdiction ?? "", card.kind.rawValue, number])
        person = Self.person(card.name, card.dateOfBirth, card.address?.postalCode)
    }

    /// The ``person`` of stored facts.
    package static func person(of facts: CardFacts) -> String? {
        person(facts.name, facts.dateOfBirth, facts.address?.postalCode)
    }

    private static func person(_ name: PersonName, _ birthday: CalendarDate?, _ postalCode: String?) -> String? {
        let parts = [name.family, name.given, name.middle].compactMap { $0 }
        let folded = parts.map(NameFolding.folded).joined(separator: " ")
        guard let birthday, !folded.isEmpty else { return nil }
        let code = postalCode?.utf8.filter { $0.isDigit || $0.isCapital }.prefix(5) ?? []
        return join("person", [folded, birthday.text, String(decoding: code, as: UTF8.self)])
    }

    /// Joins fields by the unit separator. No field contains it, so different lists of fields never give the same text.
    private static func join(_ label: String, _ fields: [String]) -> String {
        ([label] + fields).joined(separator: "\u{1F}")
    }
}
