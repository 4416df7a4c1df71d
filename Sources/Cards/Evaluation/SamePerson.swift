import Domain

/// Whether two cards can belong to one person: the birthdays are equal, and the names agree or one is a part of the
/// other.
package enum SamePerson {
    /// Compares the stored data of two cards.
    package static func agree(_ former: CardFacts, _ next: CardFacts) -> Bool {
        guard former.dateOfBirth == next.dateOfBirth else { return false }
        let (one, other) = (name(of: former), name(of: next))
        if !joined(one).isDisjoint(with: joined(other)) { return true }
        return agree(words(one), words(other))
    }

    private static func agree(_ one: [Set<String>], _ other: [Set<String>]) -> Bool {
        let (fewer, more) = one.count <= other.count ? (one, other) : (other, one)
        // One common word is not enough.
        guard fewer.count >= 2 else { return false }
        var left = more
        return fewer.allSatisfy { word in
            guard let place = left.firstIndex(where: { isSame(word, $0) }) else { return false }
            left.remove(at: place)
            return true
        }
    }

    /// Whether two words are the same. One of two cards may have cut off a long word.
    private static func isSame(_ one: Set<String>, _ other: Set<String>) -> Bool {
        if !one.isDisjoint(with: other) { return true }
        return one.contains { word in
            other.contains { another in
                min(word.utf8.count, another.utf8.count) >= NameComparison.shortestCut
                    && (word.hasPrefix(another) || another.hasPrefix(word))
            }
        }
    }

    /// The name without its suffix, of any kind: passports omit it.
    private static func name(of facts: CardFacts) -> String {
        [facts.name.given, facts.name.middle, facts.name.family].compactMap(\.self).joined(separator: " ")
    }

    private static func joined(_ name: String) -> Set<String> {
        Set(
            NameFolding.Spelling.allCases.map { spelling in
                names(NameFolding.words(name, spelling: spelling)) { $0 }.joined()
            })
    }

    private static func words(_ name: String) -> [Set<String>] {
        names(NameFolding.spelledWords(name)) { $0.first ?? "" }
    }

    /// The words without placeholders for a missing name, and without suffixes at the end.
    private static func names<Word>(_ words: [Word], _ text: (Word) -> String) -> [Word] {
        var words = words.filter { !NameFolding.isPlaceholder(text($0)) }
        while words.count > 2, let last = words.last, NameFolding.isSuffix(text(last)) { words.removeLast() }
        return words
    }
}
