import Domain

extension Contradiction {
    /// Whether the elements and the header of a barcode have this contradiction.
    func isIn(_ barcode: AAMVACard) -> Bool {
        let (card, statements, version) = (barcode.identityCard, barcode.statements, barcode.header.versionNumber)
        switch self {
        case .twoValues: return statements.hasTwoValues
        case .twoNames: return statements.hasTwoNames
        case .unreadableIssue: return statements.isIssueUnreadable
        case .unknownSex: return statements.isSexUnreadable
        case .unknownCode: return statements.hasUnknownCode
        case .measures: return statements.isMeasureImpossible
        case .cutName: return Self.isCutWrongly(card.name)
        case .invisibleLetters: return statements.hasInvisibleLetters
        case .otherSubfiles: return statements.hasOtherSubfiles
        case .subfileOfAnother: return statements.hasSubfileOfAnother
        case .unknownEdition: return version.map { $0 > AAMVAVersion.latest } ?? false
        case .laterEdition:
            guard let edition = version.flatMap({ AAMVAVersion($0) }), let issue = card.issuedOn else { return false }
            return edition.year > issue.year
        case .numberLength:
            let length = card.normalisedNumber.utf8.count
            return length > 0 && Self.numberFormat(of: card).map { !$0.isNearLength(length) } ?? false
        case .numberLetters:
            return Self.numberFormat(of: card).map { !$0.isNearLetters(card.normalisedNumber) } ?? false
        case .numberBirthday: return IssuerNumberRule.findings(of: card)?.hasBirthday == false
        case .numberSex: return IssuerNumberRule.findings(of: card)?.hasSex == false
        default: return false
        }
    }

    /// Whether the dates of a barcode have this contradiction.
    func isIn(_ statements: AAMVACard.Statements, of card: IdentityCard, _ today: CalendarDate) -> Bool {
        switch self {
        case .revision:
            guard let revised = statements.revisedOn, revised.year < 9999 else { return false }
            // An issuer may keep the day of issue for a card that it prints again within a year.
            return revised > today.next || (card.issuedOn.map { $0.age(on: revised) >= 1 } ?? false)
        case .youngDriver:
            guard statements.isForDriving, card.isBirthdayInFull, let issue = card.issuedOn,
                let age = card.age(on: issue)
            else { return false }
            return (0..<Self.leastDrivingAge).contains(age)
        case .birthdays:
            guard let birth = card.dateOfBirth, card.isBirthdayInFull else { return false }
            return statements.birthdays.contains { age, day in
                // A day early or late: issuers differ on when an age is reached, and in years without 29 February.
                let reached = birth.reaching(age)
                return day.year < 9999 && ![reached, reached.next].contains(day) && day.next != reached
            }
        default: return false
        }
    }

    /// A family name is cut only if it is longer than a field. Names that are marked as whole fit into the standard's
    /// fields.
    private static func isCutWrongly(_ name: PersonName) -> Bool {
        if name.familyTruncation == .truncated, let family = name.family,
            NameFolding.folded(family).utf8.count < NameComparison.shortestCut
        {
            return true
        }
        let names = [
            (name.family, name.familyTruncation), (name.given, name.givenTruncation),
            (name.middle, name.middleTruncation),
        ]
        return names.contains { text, truncation in
            truncation == .complete && (text?.unicodeScalars.count ?? 0) > longestName
        }
    }
}

extension CalendarDate {
    /// The day on which a person born on this day reaches an age.
    fileprivate func reaching(_ age: Int) -> CalendarDate {
        CalendarDate(year: year + age, month: month, day: day)
            ?? CalendarDate(lastDayOf: month, year: year + age) ?? .never
    }
}
