import Cards
import Domain
import Foundation

/// The barcode of an invented driver's licence by the AAMVA standard (version 10). `countersign sample card` prints it,
/// and the tour's user submits it. It is valid on the day it is made.
struct SpecimenCard {
    /// The cardholder's names, in capitals.
    struct Name: Equatable {
        let family: String
        /// `nil` for a holder with one name.
        let given: String?
        let middle: String?

        init(family: String, given: String?, middle: String?) {
            (self.family, self.given, self.middle) = (family, given, middle)
        }

        /// Reads `Jane Q Sample`: the last word is the family name, the first the given one. One word is a family name.
        /// Accents are left out, as on cards.
        ///
        /// - Returns: `nil` for no word, more than 40 characters in a part, and characters other than Latin letters,
        ///   hyphen and apostrophe.
        init?(_ text: String) {
            let words = PersonName.printed(text).split(separator: " ").map(String.init)
            let isName = words.allSatisfy { word in
                word.utf8.allSatisfy { (0x41...0x5A).contains($0) || $0 == 0x2D || $0 == 0x27 }
                    && word.utf8.contains { (0x41...0x5A).contains($0) }
            }
            guard isName, let family = words.last else { return nil }
            let given = words.count > 1 ? words.first : nil
            let middle = words.dropFirst().dropLast().joined(separator: " ")
            guard [given ?? "", family, middle].allSatisfy({ $0.utf8.count <= 40 }) else { return nil }
            self.init(family: family, given: given, middle: middle.isEmpty ? nil : middle)
        }

        /// The refusal of a text that is not a name.
        ///
        /// - Parameter fewest: the number of names that are needed. An mdoc always has a given name.
        static func unreadable(_ fewest: String) -> CommandFailure {
            CommandFailure(
                "--name must be \(fewest) or more names of Latin letters, hyphens and apostrophes, each of at most 40 "
                    + "characters. A card has no letters of other scripts.", exitCode: .usage)
        }

        var text: String { [given, middle, family].compactMap(\.self).joined(separator: " ") }
    }

    let jurisdiction: Jurisdiction
    /// In a format that the jurisdiction issues, and as it derives numbers from the holder, if its rule is public.
    let number: String
    let name: Name
    let birth: CalendarDate
    let issue: CalendarDate
    let expiry: CalendarDate

    /// A card with a random number and birthday.
    ///
    /// - Parameter now: the card was issued a year before and expires after six years.
    init(of jurisdiction: Jurisdiction, _ name: Name, now: Date) {
        self.jurisdiction = jurisdiction
        self.name = name
        let today = CalendarDate(utcDayOf: now)
        // A different person each time, whatever the name. A second user with a card of the same person would go to
        // review.
        birth =
            CalendarDate(
                year: today.year - .random(in: 22...61), month: .random(in: 1...12), day: .random(in: 1...28)) ?? today
        number = IssuerNumberRule.fitting(
            Self.number(jurisdiction.numberForm), of: jurisdiction.code,
            family: name.family, birth: birth, sex: .male)
        issue = Self.day(today.year - 1, today)
        expiry = Self.day(today.year + 6, today)
    }

    /// A card of Virginia with a random name, for repeated tours.
    init?(now: Date = Date()) {
        guard let virginia = Jurisdiction.of(code: "VA") else { return nil }
        let family = "TOUR" + String((0..<8).map { _ in "BCDFGHKLMNPRSTVW".randomElement() ?? "X" })
        self.init(of: virginia, Name(family: family, given: "MICHAEL", middle: "JOHN"), now: now)
    }

    private static func day(_ year: Int, _ today: CalendarDate) -> CalendarDate {
        CalendarDate(year: year, month: today.month, day: min(today.day, 28)) ?? today
    }

    /// A number in a form; letters that look like digits are left out, and no part begins with a zero.
    private static func number(_ form: String) -> String {
        var last: Character = "L"
        let number = form.map { place -> Character in
            defer { last = place }
            let characters = place == "L" ? "BCDFGHJKLMNPRSTVW" : place == last ? "0123456789" : "123456789"
            return characters.randomElement() ?? "7"
        }
        return number.isEmpty ? String(Int.random(in: 1_000_000...9_999_999)) : String(number)
    }

    /// The text of the barcode.
    var barcode: String {
        let isCanadian = jurisdiction.country == "CAN"
        let elements: [(String, String)] =
            [
                ("DAQ", number), ("DCS", name.family), ("DDE", "N"), ("DAC", name.given ?? "NONE"), ("DDF", "N"),
                ("DAD", name.middle ?? ""), ("DDG", "N"), ("DCA", "D"), ("DCB", "NONE"), ("DCD", "NONE"),
                ("DBD", date(issue)), ("DBB", date(birth)), ("DBA", date(expiry)), ("DBC", "1"),
                ("DAU", isCanadian ? "173 cm" : "068 in"), ("DAY", "BRO"), ("DAG", "1 SPECIMEN STREET"),
                ("DAI", "SAMPLETON"), ("DAJ", jurisdiction.code), ("DAK", postalCode), ("DCF", "SPECIMEN\(number)"),
                ("DCG", jurisdiction.country), ("DDA", "F"), ("DDB", date(issue)), ("DDD", "0"), ("DDK", "1"),
                ("DDL", "1"),
            ]
        let licence = "DL" + elements.map { $0 + $1 }.joined(separator: "\n") + "\r"
        let own = "Z" + jurisdiction.code.prefix(1)
        let jurisdictional = own + own + "A01\r"
        let type = "@\n\u{1E}\rANSI \(jurisdiction.issuerNumber)100002"
        let begin = type.utf8.count + 20
        return type + "DL" + Self.digits(begin, 4) + Self.digits(licence.utf8.count, 4)
            + own + Self.digits(begin + licence.utf8.count, 4) + Self.digits(jurisdictional.utf8.count, 4)
            + licence + jurisdictional
    }

    /// The order of day, month and year depends on the country.
    private func date(_ day: CalendarDate) -> String {
        let (year, rest) = (Self.digits(day.year, 4), Self.digits(day.month, 2) + Self.digits(day.day, 2))
        return jurisdiction.country == "CAN" ? year + rest : rest + year
    }

    private var postalCode: String {
        jurisdiction.postalStart + (jurisdiction.country == "CAN" ? "1A0B1" : "010000")
    }

    private static func digits(_ number: Int, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }
}
