import Domain

/// Whether the name on a card can be the user's name at the provider.
///
/// The display name must contain the family name and one of the given names, in any order. Further names may be missing
/// on either side. One word of a name with several words is enough. Initials and suffixes are ignored. A nickname or
/// another transliteration is enough. A name that the card cut off must only be a prefix.
struct NameComparison {
    private let family: Part?
    private let given: Part?
    /// The given name and the first further name together: JI and WOO are Jiwoo.
    private let together: Part?
    private let further: [Part]

    /// The minimum number of letters of a name that may have been cut although the card does not mark it.
    static let shortestCut = 10
    /// The maximum number of further names that are compared.
    private static let maximumFurther = 8
    /// The maximum number of words of a display name that are compared.
    private static let maximumWords = 16

    /// One part of the card's name.
    private struct Part {
        let text: String
        let mayBeCut: Bool
        let isGiven: Bool

        /// `nil` for a missing name, and for a word that means a missing name.
        init?(_ text: String?, _ truncation: PersonName.Truncation, isGiven: Bool) {
            guard let text else { return nil }
            let folded = NameFolding.folded(text)
            guard !folded.isEmpty, !NameFolding.isPlaceholder(folded) else { return nil }
            self.text = text
            self.isGiven = isGiven
            // Most cards do not mark whether a name was cut, so a long one may be.
            mayBeCut =
                switch truncation {
                case .truncated: true
                case .complete: false
                case .unknown: folded.utf8.count >= NameComparison.shortestCut
                }
        }
    }

    init(_ name: PersonName) {
        family = Part(name.family, name.familyTruncation, isGiven: false)
        given = Part(name.given, name.givenTruncation, isGiven: true)
        let further = name.middle?.split(separator: " ").prefix(Self.maximumFurther).map(String.init) ?? []
        let last = further.count - 1
        self.further = further.enumerated().compactMap { place, text in
            NameFolding.folded(text).utf8.count < 2
                ? nil : Part(text, place == last ? name.middleTruncation : .complete, isGiven: true)
        }
        together = further.first.flatMap { first in
            name.given.flatMap { Part("\($0) \(first)", .complete, isGiven: true) }
        }
    }

    func admits(_ displayName: String) -> Bool {
        let words = Self.words(displayName)
        guard let family else {
            // A card may have only one name, under either element.
            return given.map { !runs(of: $0, in: words).isEmpty } ?? false
        }
        return runs(of: family, in: words).contains { run in
            guard given != nil else { return true }
            var rest = words
            rest.removeSubrange(run)
            return givenNames.contains { !runs(of: $0, in: rest).isEmpty }
        }
    }

    /// Whether any name of the card is in the display name. If none is, they are the names of two persons.
    func sharesName(with displayName: String) -> Bool {
        let words = Self.words(displayName)
        return ([family].compactMap(\.self) + givenNames).contains { !runs(of: $0, in: words).isEmpty }
    }

    /// Why a display name that does not match says nothing: it has not two words or more of letters, in the card's
    /// script. Nicknames, addresses and other scripts do not.
    enum Obstacle: Equatable {
        case missing
        case otherLetters
        case otherCharacters
        case singleWord
        case initials
        case tooManyWords
    }

    /// What prevents the comparison of a display name with the name on any card; `nil` if nothing does.
    static func obstacle(in displayName: String?) -> Obstacle? {
        guard let displayName, !PlainText.isBlank(displayName) else { return .missing }
        let words = NameFolding.words(displayName)
        guard words.allSatisfy({ $0.utf8.allSatisfy { $0 < 0x80 } }) else { return .otherLetters }
        let isWritten = displayName.prefix(256).unicodeScalars.allSatisfy { scalar in
            scalar.properties.isAlphabetic || scalar.properties.generalCategory == .nonspacingMark
                || " \t\u{A0}'`.,-\u{2010}\u{2011}\u{2018}\u{2019}\u{02BC}".unicodeScalars.contains(scalar)
        }
        guard isWritten, !words.isEmpty, words.allSatisfy({ $0.utf8.allSatisfy(\.isCapital) }) else {
            return .otherCharacters
        }
        if words.count == 1 { return .singleWord }
        if words.count(where: { $0.utf8.count >= 2 }) < 2 { return .initials }
        return words.count > 8 ? .tooManyWords : nil
    }

    private var givenNames: [Part] { [given, together].compactMap(\.self) + further }

    private static func words(_ displayName: String) -> [Set<String>] {
        Array(NameFolding.spelledWords(displayName).prefix(maximumWords))
    }

    /// The positions of a part of the name: the whole part first, then each of its words that is a name by itself.
    private func runs(of part: Part, in words: [Set<String>]) -> [Range<Int>] {
        let whole = run(of: NameFolding.foldedSpellings(part.text), part, cut: part.mayBeCut, in: words)
        let parts = NameFolding.spelledWords(part.text)
        let alone = parts.count > 1 ? parts.prefix(Self.maximumFurther).filter { Self.isName($0) } : []
        return ([whole] + alone.map { run(of: $0, part, cut: false, in: words) }).compactMap(\.self)
    }

    private static func isName(_ word: Set<String>) -> Bool {
        word.allSatisfy { $0.utf8.count >= 2 && !particles.contains($0) && !NameFolding.isSuffix($0) }
    }

    /// Words before family names that are not names by themselves.
    private static let particles: Set<String> = [
        "DE", "DA", "DI", "DO", "DU", "LA", "LE", "EL", "AL", "TE", "DEL", "DELLA", "DELA", "DER", "DEN", "DES", "DOS",
        "DAS", "LAS", "LOS", "VAN", "VON", "VANDER", "ZUM", "ZUR", "BIN", "BINT", "IBN", "ABU", "MAC", "MC", "SAN",
        "SANTA", "SAINT", "ST",
    ]

    /// The words that make up a name, however it is divided: MC DONALD is MCDONALD. If none do, the one word that can
    /// replace it.
    private func run(of sought: Set<String>, _ part: Part, cut: Bool, in words: [Set<String>]) -> Range<Int>? {
        for start in words.indices {
            // A few beginnings of the sought name, because each is as long as its words.
            var begun: Set<String> = [""]
            for end in start..<words.count where !begun.isEmpty {
                let joined = begun.flatMap { first in words[end].map { first + $0 } }
                let isFound = joined.contains { written in
                    sought.contains(written) || (cut && sought.contains { written.hasPrefix($0) })
                }
                if isFound { return start..<end + 1 }
                begun = Set(joined.filter { written in sought.contains { $0.hasPrefix(written) } })
            }
        }
        let place = words.firstIndex { word in
            word.contains { written in sought.contains { standsFor(written, $0, part) } }
        }
        return place.map { $0..<$0 + 1 }
    }

    private func standsFor(_ written: String, _ sought: String, _ part: Part) -> Bool {
        part.isGiven
            ? NameVariants.areGivenNames(written, sought) : NameVariants.areSpellings(written, sought)
    }
}

extension NameComparison.Obstacle {
    /// The sentence for the user and the reviewer.
    var sentence: String {
        switch self {
        case .missing: "The provider sent no display name."
        case .otherLetters:
            "The account's display name has letters other than A to Z with or without accents, as cards have them. "
                + "It cannot be compared."
        case .otherCharacters:
            "The account's display name has digits or signs that names do not have. It cannot be compared."
        case .singleWord: "The account's display name is a single word. It cannot be compared with the card's name."
        case .initials: "The account's display name has only initials beside one name. It cannot be compared."
        case .tooManyWords: "The account's display name has more words than are compared."
        }
    }
}
