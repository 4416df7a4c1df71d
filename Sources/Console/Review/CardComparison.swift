import Domain
import Encoding
import Foundation

/// What differs between a card and what was known of its user before, in words. No color says it.
struct CardComparison: Sendable {
    /// A fact on the card beside the known one.
    struct Line: Sendable, Equatable {
        let fact: String
        let card: String
        /// `nil` if nothing was known.
        let known: String?
        let difference: String
    }

    let lines: [Line]

    /// - Parameters:
    ///   - name: the account's name at the provider; `nil` if it has none.
    ///   - former: the card that verified the user before; `nil` if none did.
    init(_ card: CardFacts, accountName name: String?, former: CardFacts?) {
        var lines = [
            Line(
                fact: "Name, in the account", card: card.fullName, known: name,
                difference: name.map { Self.words(card.fullName, $0, "in the account") } ?? "The account has no name.")
        ]
        if let former {
            lines.append(
                Line(
                    fact: "Name, on the former card", card: card.fullName, known: former.fullName,
                    difference: Self.words(card.fullName, former.fullName, "on the former card")))
        }
        lines.append(
            Line(
                fact: "Date of birth", card: card.dateOfBirth.text, known: former?.dateOfBirth.text,
                difference: former.map { Self.dates(card.dateOfBirth, $0.dateOfBirth) } ?? Self.unknown))
        func text(_ fact: String, _ value: (CardFacts) -> String?, _ compare: (String, String) -> String) -> Line {
            let (here, there) = (value(card), former.flatMap(value))
            let difference =
                switch (here, there) {
                case (let here?, let there?): compare(here, there)
                case (nil, _?): "Only on the former card."
                case (_?, nil): former == nil ? Self.unknown : "Only on this card."
                case (nil, nil): "On neither card."
                }
            return Line(fact: fact, card: here ?? "none", known: there, difference: difference)
        }
        lines += [
            text("Address", { $0.address?.line }, { Self.words($0, $1, "on the former card") }),
            text(
                "Document number", { $0.documentNumber ?? "…\($0.lastFour)" },
                { _, _ in former.map { Self.numbers(card, $0) } ?? Self.unknown }),
            text("Issuer", { [$0.jurisdiction, $0.country].compactMap(\.self).joined(separator: ", ") }, Self.texts),
            text("Kind of document", { $0.kind.words }, Self.texts),
            text("Valid until", { $0.expiresOn.text }, Self.texts),
        ]
        self.lines = lines
    }

    private static let unknown = "Not known before."
    private static let same = "Same."
}

extension CardComparison {
    /// Compares texts word by word, without regard to case, accents and hyphens.
    ///
    /// - Parameter place: where the second text is, such as *in the account*.
    static func words(_ card: String, _ known: String, _ place: String) -> String {
        let (here, there) = (split(card), split(known))
        guard here.map(\.key) != there.map(\.key) else { return same }
        let onlyHere = here.filter { word in !there.contains { $0.key == word.key } }.map(\.shown)
        let onlyThere = there.filter { word in !here.contains { $0.key == word.key } }.map(\.shown)
        switch (onlyHere.isEmpty, onlyThere.isEmpty) {
        case (true, true): return "The same words, in another order or number."
        case (false, true): return "Only on this card: \(onlyHere.joined(separator: " "))."
        case (true, false): return "Only \(place): \(onlyThere.joined(separator: " "))."
        case (false, false):
            let start = onlyHere.count == here.count ? "No word in common. " : ""
            return start + "Only on this card: \(onlyHere.joined(separator: " ")). "
                + "Only \(place): \(onlyThere.joined(separator: " "))."
        }
    }

    /// The words of a text, each with the bytes that are compared.
    private static func split(_ text: String) -> [(shown: Substring, key: [UInt8])] {
        text.split { $0.isWhitespace || $0 == "-" || $0 == "," }.map { word in
            let folded = word.folding(
                options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
            return (word, Array(folded.utf8))
        }
    }

    static func dates(_ card: CalendarDate, _ known: CalendarDate) -> String {
        guard card != known else { return same }
        if card.year == known.year, card.month == known.day, card.day == known.month {
            return "Day and month are exchanged."
        }
        let parts = [
            card.year == known.year ? nil : "year", card.month == known.month ? nil : "month",
            card.day == known.day ? nil : "day",
        ].compactMap(\.self)
        return "Another \(parts.joined(separator: " and "))."
    }

    private static func texts(_ card: String, _ known: String) -> String {
        card.hasSameBytes(as: known) ? same : "Another one."
    }

    /// A card whose number was dropped has only its end.
    private static func numbers(_ card: CardFacts, _ former: CardFacts) -> String {
        if let number = card.documentNumber, let other = former.documentNumber { return texts(number, other) }
        return card.lastFour.hasSameBytes(as: former.lastFour)
            ? "The last characters are the same. The rest is no longer stored." : "Another one."
    }
}

extension IdentityCard.Kind {
    /// The kind for a reader.
    var words: String {
        switch self {
        case .licence: "driving licence"
        case .identification: "identity card"
        case .passport: "passport"
        }
    }
}
