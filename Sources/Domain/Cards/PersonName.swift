/// A person's name as printed on a card: capital letters, cut off if they are too long for the card.
package struct PersonName: Sendable, Equatable, Confidential {
    /// The family name (ICAO: primary identifier); `nil` if the card states none.
    package var family: String?
    package var given: String?
    package var middle: String?
    package var suffix: String?
    /// Whether the family name was cut off.
    package var familyTruncation = Truncation.unknown
    /// Whether the first given name was cut off.
    package var givenTruncation = Truncation.unknown
    /// Whether the further names were cut off.
    package var middleTruncation = Truncation.unknown
}

package extension PersonName {
    /// Whether a name fits on the card (elements DDE, DDF and DDG of the AAMVA standard).
    enum Truncation: String, Sendable {
        case truncated = "T"
        case complete = "N"
        case unknown = "U"
    }

    init(family: String? = nil, given: String? = nil, middle: String? = nil, suffix: String? = nil) {
        self.family = family
        self.given = given
        self.middle = middle
        self.suffix = suffix
    }

    /// All parts in the order of speech; empty if there is none.
    var full: String {
        [given, middle, family, suffix].compactMap { $0 }.joined(separator: " ")
    }
}
