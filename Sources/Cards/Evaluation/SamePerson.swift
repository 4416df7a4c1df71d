import Domain

/// Whether two cards can belong to one person: equal birthdays, and names that agree or of which one is a part of the
/// other.
package enum SamePerson {
    /// Compares the stored data of two cards.
    package static func agree(_ former: CardFacts, _ next: CardFacts) -> Bool {
        guard former.dateOfBirth == next.dateOfBirth else { return false }
        return NameFolding.Spelling.allCases.contains { formerly in
            NameFolding.Spelling.allCases.contains { now in
                agree(words(former.fullName, formerly), words(next.fullName, now))
            }
        }
    }

    private static func agree(_ one: [String], _ other: [String]) -> Bool {
        if one.joined() == other.joined() { return true }
        let (fewer, more) = one.count <= other.count ? (one, other) : (other, one)
        // One common word is not enough.
        guard fewer.count >= 2 else { return false }
        var left = more
        return fewer.allSatisfy { word in
            guard let place = left.firstIndex(of: word) else { return false }
            left.remove(at: place)
            return true
        }
    }

    /// The words of a name without generation suffixes, which passports omit.
    private static func words(_ name: String, _ spelling: NameFolding.Spelling) -> [String] {
        var words = NameFolding.words(name, spelling: spelling)
        while words.count > 2, let last = words.last, generations.contains(last) { words.removeLast() }
        return words
    }

    private static let generations: Set<String> = ["JR", "SR", "II", "III", "IV", "2ND", "3RD", "4TH"]
}
