import Domain

extension AAMVAValues {
    /// The holder's name from the elements of the card's version, or of another version if those are missing.
    mutating func name(version: AAMVAVersion) -> PersonName {
        var name = PersonName()
        switch version.nameForm {
        case .whole:
            if let whole = text(ElementID("DAA")) {
                take(whole: whole, into: &name)
            } else {
                name.family = text(ElementID("DAB"))
                takeApart(into: &name)
            }
        case .givenTogether:
            name.family = text(ElementID("DCS"))
            if let given = text(ElementID("DCT")) { take(given: given, into: &name) }
        case .apart:
            name.family = text(ElementID("DCS"))
            takeApart(into: &name)
        }
        completeFromOtherVersions(&name, version: version)
        name.suffix = name.suffix ?? text(ElementID("DCU"), ElementID("DAE"))
        name.familyTruncation = truncation(ElementID("DDE"))
        name.givenTruncation = truncation(ElementID("DDF"))
        name.middleTruncation = truncation(ElementID("DDG"))
        return name
    }

    /// The mandatory elements of a name that are missing or empty. NONE means that the holder has no such name.
    func missingNames(version: AAMVAVersion) -> [String] {
        guard !isPresent(ElementID("DAA")) else { return [] }
        guard version.nameForm != .whole else { return isPresent(ElementID("DAB")) ? [] : ["DAA"] }
        let hasFamily = isPresent(ElementID("DCS")) || isPresent(ElementID("DAB"))
        let hasGiven = isPresent(ElementID("DAC")) || isPresent(ElementID("DCT"))
        return (hasFamily ? [] : ["DCS"]) + (hasGiven ? [] : [version.nameForm == .apart ? "DAC" : "DCT"])
    }

    private mutating func completeFromOtherVersions(_ name: inout PersonName, version: AAMVAVersion) {
        let isComplete = name.family != nil && name.given != nil
        guard !isComplete else { return }
        let before = name
        if name.given == nil {
            if version.nameForm != .apart, isPresent(ElementID("DAC")) {
                takeApart(into: &name)
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

    /// Takes first name and further names from separate elements. The standard separates further names by commas. If
    /// the first names have commas too, all but the first are further names.
    private mutating func takeApart(into name: inout PersonName) {
        let given = Self.parts(text(ElementID("DAC")))
        let middle = given.dropFirst() + Self.parts(text(ElementID("DAD")))
        name.given = given.first
        name.middle = middle.isEmpty ? name.middle : middle.joined(separator: " ")
    }

    /// Takes the name from `FAMILY,FIRST,MIDDLE,SUFFIX`. Without a comma, the name is in spoken order.
    private mutating func take(whole: String, into name: inout PersonName) {
        let parts = whole.split(separator: ",", maxSplits: 3, omittingEmptySubsequences: false)
            .map(Self.withoutBlanksAround)
        guard parts.count > 1 else {
            conformance.note(.nameSeparator, "DAA")
            name = PersonName(spoken: whole)
            return
        }
        func part(_ index: Int) -> String? {
            index < parts.count && !parts[index].isEmpty ? parts[index] : nil
        }
        name.family = part(0)
        name.given = part(1)
        name.middle = part(2)
        name.suffix = part(3)
    }

    /// Takes all given names from one element, separated by commas or blanks. Some issuers also write the further names
    /// separately.
    private mutating func take(given: String, into name: inout PersonName) {
        let parts = given.split { $0 == "," || $0 == " " }.map(String.init)
        name.given = parts.first
        let beside = Self.parts(text(ElementID("DAD"))).filter { !parts.contains($0) }
        if !beside.isEmpty { conformance.note(.nameElements, "DAD") }
        let middle = parts.dropFirst() + beside
        name.middle = middle.isEmpty ? name.middle : middle.joined(separator: " ")
    }

    private static func parts(_ names: String?) -> [String] {
        (names ?? "").split(separator: ",").map(withoutBlanksAround).filter { !$0.isEmpty }
    }

    private mutating func truncation(_ id: ElementID) -> PersonName.Truncation {
        text(id).flatMap(PersonName.Truncation.init(rawValue:)) ?? .unknown
    }
}

extension PersonName {
    /// A name in spoken order: given, middle, family, and generation suffix.
    init(spoken: String) {
        var words = spoken.split(separator: " ").map(String.init)
        var suffix: String?
        if words.count > 2, let last = words.last, NameFolding.isSuffix(last) { suffix = words.removeLast() }
        self.init(family: words.popLast(), given: words.first, suffix: suffix)
        let between = words.dropFirst()
        middle = between.isEmpty ? nil : between.joined(separator: " ")
    }
}
