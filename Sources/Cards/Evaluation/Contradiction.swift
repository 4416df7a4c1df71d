import Domain

/// What no card of an issuer says: two statements that deny each other, or one that denies what is possible. Of 65 fair
/// cards of public suites none does. Each card that does is shown to a reviewer.
enum Contradiction: CaseIterable {
    case twoValues, unreadableIssue, birthdays, unknownSex, revision, nationalNumber
    case validity, age, scripts, digits, numberLength

    /// The longest validity of a card that expires, years: Arizona's are valid until the holder is 65.
    static let longestValidity = 50
    /// The greatest age of a holder, years.
    static let greatestAge = 110

    /// A few words, without data of the card.
    var explanation: String {
        switch self {
        case .twoValues: "an element has two different values"
        case .unreadableIssue: "the day of issue is no date"
        case .birthdays: "the days of reaching 18, 19 or 21 are not those of the birthday"
        case .unknownSex: "the sex is no code of the standard"
        case .revision: "the card's design is newer than today"
        case .nationalNumber: "the national number has a wrong check digit or another birthday"
        case .validity: "the card is valid for more than \(Self.longestValidity) years"
        case .age: "the holder is older than \(Self.greatestAge) years"
        case .scripts: "a name mixes letters of two scripts"
        case .digits: "a name has digits"
        case .numberLength: "the document number has a length that the issuer never gave out"
        }
    }

    /// Whether a card says it.
    func isIn(_ input: CardRule.Input) -> Bool {
        let card = input.identityCard
        switch self {
        case .twoValues, .unreadableIssue, .birthdays, .unknownSex, .revision, .nationalNumber:
            return switch input.card {
            case .aamva(let barcode): isIn(barcode.statements, of: card, input.today)
            case .machineReadable(let zone): isIn(zone)
            case .stripe: false
            }
        case .validity:
            guard let expiry = card.expiresOn, expiry != .never else { return false }
            return expiry.year - (card.issuedOn ?? input.today).year > Self.longestValidity
        case .age: return (card.age(on: input.today) ?? 0) > Self.greatestAge
        case .scripts: return Self.isMixed(card.name.full)
        case .digits:
            return Self.words(card.name).contains { word in
                word.utf8.contains(where: \.isDigit) && !NameFolding.isSuffix(NameFolding.folded(String(word)))
            }
        case .numberLength:
            guard case .aamva = input.card else { return false }
            let format = card.jurisdiction.flatMap { Jurisdiction.of(code: $0) }?.numberFormat
            let length = card.normalisedNumber.utf8.count
            return format.map { length > 0 && !$0.isNearLength(length) } ?? false
        }
    }

    private func isIn(_ statements: AAMVACard.Statements, of card: IdentityCard, _ today: CalendarDate) -> Bool {
        switch self {
        case .twoValues: return statements.hasTwoValues
        case .unreadableIssue: return statements.isIssueUnreadable
        case .unknownSex: return statements.isSexUnreadable
        case .revision: return statements.revisedOn.map { $0 > today.next && $0.year < 9999 } ?? false
        case .birthdays:
            guard let birth = card.dateOfBirth, card.isBirthdayInFull else { return false }
            return statements.birthdays.contains { age, day in
                // A day early or late: issuers differ on when an age is reached, and in years without 29 February.
                let reached = birth.reaching(age)
                return day.year < 9999 && ![reached, reached.next].contains(day) && day.next != reached
            }
        case .nationalNumber, .validity, .age, .scripts, .digits, .numberLength: return false
        }
    }

    private func isIn(_ zone: MachineReadableZone) -> Bool {
        switch self {
        case .unknownSex: zone.identityCard.sex == nil
        case .nationalNumber: zone.nationalNumberFits == false
        case .twoValues, .unreadableIssue, .birthdays, .revision, .validity, .age, .scripts, .digits, .numberLength:
            false
        }
    }

    /// The words of all names but the suffix, which may be 2ND.
    private static func words(_ name: PersonName) -> [Substring] {
        [name.family, name.given, name.middle].compactMap(\.self).flatMap {
            $0.split { $0 == " " || $0 == "-" || $0 == "," }
        }
    }

    /// Whether a name has letters of the Latin script and of another one.
    private static func isMixed(_ name: String) -> Bool {
        let letters = name.unicodeScalars.filter {
            $0.properties.isAlphabetic && $0.properties.generalCategory != .modifierLetter
        }
        let latin = letters.count(where: isLatin)
        return latin > 0 && latin < letters.count
    }

    private static func isLatin(_ letter: Unicode.Scalar) -> Bool {
        switch letter.value {
        case 0x41...0x5A, 0x61...0x7A, 0xAA, 0xBA, 0xC0...0x24F, 0x1E00...0x1EFF, 0x2C60...0x2C7F, 0xA720...0xA7FF: true
        default: false
        }
    }
}

extension CalendarDate {
    /// The day on which one born on this day reaches an age.
    fileprivate func reaching(_ age: Int) -> CalendarDate {
        CalendarDate(year: year + age, month: month, day: day)
            ?? CalendarDate(lastDayOf: month, year: year + age) ?? .never
    }
}
