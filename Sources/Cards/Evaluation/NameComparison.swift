import Domain

/// Whether the name on a card can be the user's name at the provider.
///
/// The display name must contain the family name and one of the given names, in any order. Further names may be
/// missing on either side. Of a name of several words one is enough. Initials and suffixes are ignored. A name that
/// the card cut off must only be a prefix.
struct NameComparison {
    private let name: PersonName

    init(_ name: PersonName) {
        self.name = name
    }

    func admits(_ displayName: String) -> Bool {
        NameFolding.Spelling.allCases.contains { spelling in
            admits(words: NameFolding.words(displayName, spelling: spelling))
        }
    }

    /// Whether a display name that does not match is significant. It is if it looks like a name: two words or more of
    /// letters, in the card's script. Nicknames, addresses and other scripts do not.
    func canCompare(_ displayName: String) -> Bool {
        let isWritten = displayName.prefix(256).unicodeScalars.allSatisfy { scalar in
            scalar.properties.isAlphabetic || scalar.properties.generalCategory == .nonspacingMark
                || " \t\u{A0}'`.,-\u{2010}\u{2011}\u{2018}\u{2019}\u{02BC}".unicodeScalars.contains(scalar)
        }
        let words = NameFolding.words(displayName)
        let isLatin = words.allSatisfy { $0.utf8.allSatisfy(\.isCapital) }
        return isWritten && isLatin && words.count <= 8 && words.count { $0.utf8.count >= 2 } >= 2
    }

    private func admits(words: [String]) -> Bool {
        // A card may have only one name, under either element.
        guard let family = name.family else {
            return !runs(of: name.given ?? "", cut: name.givenTruncation == .truncated, in: words).isEmpty
        }
        return runs(of: family, cut: name.familyTruncation == .truncated, in: words).contains { run in
            guard let given = name.given else { return true }
            var rest = words
            rest.removeSubrange(run)
            if !runs(of: given, cut: name.givenTruncation == .truncated, in: rest).isEmpty { return true }
            let further = name.middle?.split(separator: " ").map(String.init) ?? []
            let last = further.count - 1
            return further.enumerated().contains { index, middle in
                NameFolding.folded(middle).count > 1
                    && !runs(of: middle, cut: index == last && name.middleTruncation == .truncated, in: rest).isEmpty
            }
        }
    }

    /// The positions of a part of the name: the whole part first, then each of its words that is a name by itself.
    private func runs(of part: String, cut: Bool, in words: [String]) -> [Range<Int>] {
        let whole = run(of: NameFolding.folded(part), cut: cut, in: words)
        let parts = NameFolding.words(part)
        let alone = parts.count > 1 ? parts.filter { $0.count > 2 && !Self.particles.contains($0) } : []
        return ([whole] + alone.map { run(of: $0, cut: false, in: words) }).compactMap(\.self)
    }

    /// Words before family names that are no names themselves.
    private static let particles: Set<String> = [
        "DEL", "DELLA", "DELA", "DER", "DEN", "DES", "DOS", "DAS", "LAS", "LOS", "VAN", "VON", "VANDER", "ZUM", "ZUR",
        "BIN", "BINT", "IBN", "ABU", "MAC", "SAN", "SANTA", "SAINT",
    ]

    /// The words that make up a name, however it is divided: MC DONALD is MCDONALD.
    private func run(of sought: String, cut: Bool, in words: [String]) -> Range<Int>? {
        guard !sought.isEmpty else { return nil }
        for start in words.indices {
            var joined = ""
            for end in start..<words.count {
                joined += words[end]
                if joined == sought || (cut && joined.hasPrefix(sought)) { return start..<end + 1 }
                if joined.utf8.count >= sought.utf8.count { break }
            }
        }
        return nil
    }
}
