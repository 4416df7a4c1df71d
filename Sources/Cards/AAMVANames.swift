import Identity

extension AAMVAValues {
    /// The holder's name from the elements of the card's version, or of another one where those are missing.
    mutating func name(version: AAMVAVersion) -> PersonName {
        var name = PersonName()
        switch version.nameForm {
        case .whole:
            if let whole = text(ElementID("DAA")) {
                take(whole: whole, into: &name)
            } else {
                name.family = text(ElementID("DAB"))
                name.given = text(ElementID("DAC"))
                name.middle = text(ElementID("DAD"))
            }
        case .givenTogether:
            name.family = text(ElementID("DCS"))
            if let given = text(ElementID("DCT")) { take(given: given, into: &name) }
        case .apart:
            name.family = text(ElementID("DCS"))
            name.given = text(ElementID("DAC"))
            name.middle = text(ElementID("DAD"))
        }
        completeFromOtherVersions(&name, version: version)
        name.suffix = name.suffix ?? text(ElementID("DCU"), ElementID("DAE"))
        name.familyTruncation = truncation(ElementID("DDE"))
        name.givenTruncation = truncation(ElementID("DDF"))
        name.middleTruncation = truncation(ElementID("DDG"))
        return name
    }

    /// Whether a family name or its explicit absence stands on the card.
    var hasFamilyName: Bool {
        isPresent(ElementID("DCS")) || isPresent(ElementID("DAB")) || isPresent(ElementID("DAA"))
    }

    /// Whether a given name or its explicit absence stands on the card.
    var hasGivenName: Bool {
        isPresent(ElementID("DAC")) || isPresent(ElementID("DCT")) || isPresent(ElementID("DAA"))
    }

    private mutating func completeFromOtherVersions(_ name: inout PersonName, version: AAMVAVersion) {
        let isComplete = name.family != nil && name.given != nil
        guard !isComplete else { return }
        let before = name
        if name.given == nil {
            if version.nameForm != .apart, let given = text(ElementID("DAC")) {
                name.given = given
                name.middle = name.middle ?? text(ElementID("DAD"))
            } else if version.nameForm != .givenTogether, let given = text(ElementID("DCT")) {
                take(given: given, into: &name)
            }
        }
        name.family = name.family ?? text(ElementID("DCS"), ElementID("DAB"))
        if name.family == nil || name.given == nil, version.nameForm != .whole, let whole = text(ElementID("DAA")) {
            var other = PersonName()
            take(whole: whole, into: &other)
            name.family = name.family ?? other.family
            if name.given == nil {
                name.given = other.given
                name.middle = other.middle
            }
            name.suffix = name.suffix ?? other.suffix
        }
        if name != before { conformance.note(.nameElements) }
    }

    /// `FAMILY,FIRST,MIDDLE,SUFFIX`; where no comma stands, blanks are taken for them, in the same order.
    private mutating func take(whole: String, into name: inout PersonName) {
        var parts = whole.split(separator: ",", maxSplits: 3, omittingEmptySubsequences: false).map(Self.trimmed)
        if parts.count == 1 {
            conformance.note(.nameSeparator, "DAA")
            parts = whole.split(separator: " ", maxSplits: 2).map(Self.trimmed)
        }
        func part(_ index: Int) -> String? {
            index < parts.count && !parts[index].isEmpty ? parts[index] : nil
        }
        name.family = part(0)
        name.given = part(1)
        name.middle = part(2)
        name.suffix = part(3)
    }

    /// All given names in one element, separated by commas or blanks.
    private mutating func take(given: String, into name: inout PersonName) {
        let parts = given.split { $0 == "," || $0 == " " }
        name.given = parts.first.map(String.init)
        name.middle = parts.count > 1 ? parts.dropFirst().joined(separator: " ") : nil
    }

    private mutating func truncation(_ id: ElementID) -> PersonName.Truncation {
        text(id).flatMap(PersonName.Truncation.init(rawValue:)) ?? .unknown
    }

    private static func trimmed(_ part: Substring) -> String {
        let end = part.lastIndex { $0 != " " }.map(part.index(after:)) ?? part.startIndex
        return String(part[..<end].drop { $0 == " " })
    }
}
