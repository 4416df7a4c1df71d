import Identity

/// Whether the name on a card can be the one under which a provider knows its user.
///
/// Family name and one of the given names must be found in the display name, in any order; further names may be missing
/// on either side, initials and suffixes count for nothing, and a name that the card cut off need only begin so.
struct NameComparison {
    private let name: PersonName

    init(_ name: PersonName) {
        self.name = name
    }

    /// Judges a display name.
    func admits(_ displayName: String) -> Bool {
        NameFolding.Spelling.allCases.contains { spelling in
            admits(words: NameFolding.words(displayName, spelling: spelling))
        }
    }

    private func admits(words: [String]) -> Bool {
        // A card may hold one name only, under either element.
        guard let family = name.family else {
            return isFound(name.given ?? "", cut: name.givenTruncation == .truncated, in: words)
        }
        guard let familyRun = run(of: family, cut: name.familyTruncation == .truncated, in: words) else { return false }
        guard let given = name.given else { return true }
        var rest = words
        rest.removeSubrange(familyRun)
        if isFound(given, cut: name.givenTruncation == .truncated, in: rest) { return true }
        let further = name.middle?.split(separator: " ").map(String.init) ?? []
        let last = further.count - 1
        return further.enumerated().contains { index, name in
            NameFolding.folded(name).count > 1
                && isFound(name, cut: index == last && self.name.middleTruncation == .truncated, in: rest)
        }
    }

    private func isFound(_ part: String, cut: Bool, in words: [String]) -> Bool {
        run(of: part, cut: cut, in: words) != nil
    }

    /// The words that make up a part of the name, whichever way it is divided: MC DONALD is MCDONALD.
    private func run(of part: String, cut: Bool, in words: [String]) -> Range<Int>? {
        let sought = NameFolding.folded(part)
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
