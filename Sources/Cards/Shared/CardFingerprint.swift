import Domain

/// Canonical texts by which the same document and the same person are found again. They hold personal data: only a keyed
/// digest of them (a blind index) may be stored.
package struct CardFingerprint: Sendable, Equatable, Confidential {
    /// Country, jurisdiction, kind and normalised number: one document and its renewals. `nil` without a number.
    package let document: String?
    /// Folded name, birthday and the first five characters of the postal code: one person. `nil` without name or
    /// birthday. A document without an address gives another text than one with.
    package let person: String?

    /// Derives both from a card.
    package init(_ card: IdentityCard) {
        let number = card.normalisedNumber
        document =
            number.isEmpty
            ? nil : Self.join("document", [card.country ?? "", card.jurisdiction ?? "", card.kind.rawValue, number])
        person = Self.person(card.name, card.dateOfBirth, card.address?.postalCode)
    }

    /// The ``person`` of a card that was shown; `nil` if its facts are of before names were kept apart.
    package static func person(of facts: CardFacts) -> String? {
        facts.name.flatMap { person($0, facts.dateOfBirth, facts.address?.postalCode) }
    }

    private static func person(_ name: PersonName, _ birthday: CalendarDate?, _ postalCode: String?) -> String? {
        let parts = [name.family, name.given, name.middle].compactMap { $0 }
        let folded = parts.map(NameFolding.folded).joined(separator: " ")
        guard let birthday, !folded.isEmpty else { return nil }
        let code = postalCode?.utf8.filter { $0.isDigit || $0.isCapital }.prefix(5) ?? []
        return join("person", [folded, birthday.text, String(decoding: code, as: UTF8.self)])
    }

    /// The unit separator stands in no field, so that no two lists of fields give one text.
    private static func join(_ label: String, _ fields: [String]) -> String {
        ([label] + fields).joined(separator: "\u{1F}")
    }
}
