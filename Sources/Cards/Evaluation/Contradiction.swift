import Domain

/// A statement of a card that contradicts another one, or states what is impossible. No issuer makes such a card, so a
/// reviewer must decide about it. A kind follows from a standard or from published facts, and is lenient where real
/// cards depart from them.
enum Contradiction: CaseIterable {
    case twoValues, twoNames, unreadableIssue, birthdays, unknownSex, unknownCode, measures, cutName, invisibleLetters
    case revision, unknownEdition, laterEdition, youngDriver, otherSubfiles, subfileOfAnother, nationalNumber
    case validity, passportValidity, age, scripts, digits, unknownState
    case numberLength, numberLetters, numberBirthday, numberSex

    /// The longest validity of a card that expires, in years. Arizona's are valid until the holder is 65.
    static let longestValidity = 50
    /// The longest validity of a passport, in years. ICAO 9303-2 recommends ten at most, and no state is known for
    /// more.
    static let longestPassport = 15
    /// The greatest age of a holder, in years.
    static let greatestAge = 110
    /// The least age at which a state or province lets a person drive, in years.
    static let leastDrivingAge = 14
    /// The longest name that a barcode contains in full, in characters.
    static let longestName = 40

    /// A short explanation, without data of the card.
    var explanation: String {
        switch self {
        case .twoValues: "an element has two different values"
        case .twoNames: "the whole name (DAA) has another family name than the family name (DCS)"
        case .unreadableIssue: "the day of issue is not a date"
        case .birthdays: "the days of reaching 18, 19 or 21 are not those of the birthday"
        case .unknownSex: "the sex is not a code of the standard"
        case .unknownCode: "a colour, the compliance or the mark of a cut name has an unknown code"
        case .measures: "the height or the weight is impossible"
        case .cutName: "a short name is marked as cut, or one of more than \(Self.longestName) characters as whole"
        case .invisibleLetters: "a name has characters that cannot be seen"
        case .revision: "the card's design is newer than the card or than today"
        case .unknownEdition: "the version of the standard does not exist"
        case .laterEdition: "the version of the standard is newer than the card"
        case .youngDriver: "the driver's licence was issued to a child under \(Self.leastDrivingAge)"
        case .otherSubfiles: "the header announces other subfiles than there are"
        case .subfileOfAnother: "the jurisdiction's subfile is not that of the issuer"
        case .nationalNumber: "the national number has a wrong check digit, another birthday or another sex"
        case .validity: "the card is valid for more than \(Self.longestValidity) years"
        case .passportValidity: "the passport is valid for more than \(Self.longestPassport) years"
        case .age: "the holder is older than \(Self.greatestAge) years"
        case .scripts: "a name mixes letters of two scripts"
        case .digits: "a name has digits"
        case .unknownState: "the address has a postal code, and is in a state or province that does not exist"
        case .numberLength: "the document number has a length that the issuer never gave out"
        case .numberLetters: "the document number has more letters than any that the issuer gave out"
        case .numberBirthday: "the document number is that of another birthday"
        case .numberSex: "the document number is that of another sex"
        }
    }

    /// Whether a card has this contradiction.
    func isIn(_ input: CardRule.Input) -> Bool {
        let card = input.identityCard
        switch self {
        case .validity:
            return card.kind != .passport && Self.isValid(card, longerThan: Self.longestValidity, input.today)
        case .passportValidity:
            return card.kind == .passport && Self.isValid(card, longerThan: Self.longestPassport, input.today)
        case .age: return (card.age(on: input.today) ?? 0) > Self.greatestAge
        case .scripts: return Self.isMixed(card.name.full)
        case .digits:
            return Self.words(card.name).contains { word in
                word.utf8.contains(where: \.isDigit) && !NameFolding.isSuffix(NameFolding.folded(String(word)))
            }
        case .unknownState:
            guard let address = card.address, let state = address.jurisdiction, let postalCode = address.postalCode,
                state.utf8.count == 2
            else { return false }
            return PostalArea.code(postalCode) != nil && !PostalArea.isKnown(state)
        default: break
        }
        return switch input.card {
        case .aamva(let barcode): isIn(barcode) || isIn(barcode.statements, of: card, input.today)
        case .machineReadable(let zone): isIn(zone)
        case .stripe(let stripe): isIn(stripe)
        case .presented: false
        }
    }

    private func isIn(_ zone: MachineReadableZone) -> Bool {
        switch self {
        case .unknownSex: zone.identityCard.sex == nil
        case .nationalNumber: zone.nationalNumberFits == false
        default: false
        }
    }

    /// A stripe writes letters as digits, so its number may be longer than the issuer's, but not shorter.
    private func isIn(_ stripe: MagneticStripe) -> Bool {
        let card = stripe.identityCard
        switch self {
        case .unknownSex: return stripe.isSexUnreadable
        case .numberLength:
            let length = card.normalisedNumber.utf8.count
            return length > 0 && Self.numberFormat(of: card)?.isTooShort(length) ?? false
        default: return false
        }
    }

    static func numberFormat(of card: IdentityCard) -> NumberFormat? {
        card.jurisdiction.flatMap { Jurisdiction.of(code: $0) }?.numberFormat
    }

    private static func isValid(_ card: IdentityCard, longerThan years: Int, _ today: CalendarDate) -> Bool {
        guard let expiry = card.expiresOn, expiry != .never else { return false }
        return expiry.year - (card.issuedOn ?? today).year > years
    }

    /// The words of all names but the suffix, which may be 2ND.
    private static func words(_ name: PersonName) -> [Substring] {
        [name.family, name.given, name.middle].compactMap(\.self).flatMap {
            $0.split { $0 == " " || $0 == "-" || $0 == "," }
        }
    }

    /// Whether a name has letters both of the Latin script and of another one.
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
