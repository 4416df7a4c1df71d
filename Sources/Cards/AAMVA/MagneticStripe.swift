import Domain

/// The three tracks of a card's magnetic stripe, `%…?;…?_%…?`. British Columbia writes them unchanged into its
/// barcodes. Stripes of other issuers have the same form and are accepted too. The format is that of AAMVA's card
/// design standard, annex on magnetic stripes; the details come from public readers of stripes.
///
/// Track 1 has state or province, city, name and address. Track 2 has the issuer number, document number, expiry as
/// YYMM and birthday as CCYYMMDD. Track 3 has postal code, class and sex. No track has the day of issue.
package struct MagneticStripe: Sendable, Equatable, Confidential {
    /// The issuer number as written; `nil` if it does not have six digits.
    let issuerNumber: Int?
    let identityCard: IdentityCard
    /// Whether the sex has a code that no stripe has.
    let isSexUnreadable: Bool
    var issuer: Issuer? { issuerNumber.flatMap { Issuer.of(number: $0) } }

    /// Whether a text begins like a first track: a percent sign and two letters, after blanks and controls.
    static func begins(_ bytes: [UInt8]) -> Bool {
        let start = ScannerNoise(bytes).trimmed(0..<min(16, bytes.count)).range
        guard start.count >= 3, bytes[start.lowerBound] == UInt8(ascii: "%") else { return false }
        return bytes[start.lowerBound + 1].capitalised.isCapital && bytes[start.lowerBound + 2].capitalised.isCapital
    }

    /// Parses the tracks.
    ///
    /// - Parameter today: the day that resolves the two-digit year of the expiry.
    /// - Throws: `Refusal` `malformed_request` unless both of the first two tracks are present.
    static func read(_ bytes: [UInt8], today: CalendarDate) throws(Refusal) -> MagneticStripe {
        guard bytes.count <= AAMVACard.maximumLength else {
            throw Refusal.barcodeTooLong(allowed: AAMVACard.maximumLength)
        }
        guard let first = track(bytes[...], from: "%"), let second = track(bytes[first.endIndex...], from: ";"),
            let separator = second.firstIndex(of: UInt8(ascii: "="))
        else {
            throw Refusal.incompleteTracks
        }
        // Readers show the third track's sentinel in three ways.
        let third = track(bytes[second.endIndex...], from: "%#+")
        return MagneticStripe(
            first: first, number: second[..<separator], dates: second[second.index(after: separator)...],
            third: third ?? [], today: today)
    }

    private init(
        first: ArraySlice<UInt8>, number: ArraySlice<UInt8>, dates: ArraySlice<UInt8>, third: ArraySlice<UInt8>,
        today: CalendarDate
    ) {
        issuerNumber = Self.number(number.prefix(6), width: 6)
        let issuer = issuerNumber.flatMap { Issuer.of(number: $0) }
        let city = Self.city(first.dropFirst(2))
        let rest = city.rest.split(separator: UInt8(ascii: "^"), maxSplits: 2, omittingEmptySubsequences: false)
        let lines = rest.dropFirst().first.map { Self.parts($0, separators: "$") } ?? []
        var address = PostalAddress(
            street: lines.isEmpty ? nil : lines.joined(separator: ", "), city: Self.text(city.city),
            jurisdiction: Self.text(first.prefix(2))?.uppercased(), country: issuer?.country)
        // Two version characters precede it; class, restrictions, endorsements and then the sex follow.
        address.postalCode = Self.text(third.dropFirst(2).prefix(11)).map { PostalArea.code($0) ?? $0 }

        var card = IdentityCard(source: .aamva, kind: .licence)
        card.name = Self.name(rest.first ?? [])
        card.address = address
        card.country = issuer?.country
        card.jurisdiction = issuer?.jurisdiction?.code
        (card.dateOfBirth, card.isBirthdayInFull) = Self.birth(dates.dropFirst(4).prefix(8))
        card.expiresOn = Self.expiry(dates.prefix(4), birth: card.dateOfBirth, today: today)
        // The part of a long number that does not fit before the dates comes after them.
        let overflow = dates.dropFirst(12).prefix { $0.isDigit }
        card.documentNumber = (Self.text(number.dropFirst(6)) ?? "") + (Self.text(overflow) ?? "")
        let (sex, height) = (third.dropFirst(29).first, third.dropFirst(30).prefix(3))
        card.sex = sex.flatMap(Self.sex)
        // Only if the height follows, so that the track has this layout.
        isSexUnreadable =
            card.sex == nil && sex.map { $0 > 0x20 } ?? false && height.count == 3 && height.allSatisfy(\.isDigit)
        card.fields = [
            CardField(element: "name", raw: Self.raw(rest.first ?? []), subfile: "track 1", property: .name),
            CardField(element: "address", raw: Self.raw(first), subfile: "track 1", property: .street),
            CardField(element: "number", raw: Self.raw(number), subfile: "track 2", property: .documentNumber),
            CardField(element: "dates", raw: Self.raw(dates), subfile: "track 2", property: .expiresOn),
            CardField(element: "postal_code", raw: Self.raw(third), subfile: "track 3", property: .postalCode),
        ]
        identityCard = card
    }

    /// The text between the first of some sentinels and the next question mark.
    private static func track(_ bytes: ArraySlice<UInt8>, from sentinels: String) -> ArraySlice<UInt8>? {
        guard let start = bytes.firstIndex(where: sentinels.utf8.contains) else { return nil }
        let content = bytes[bytes.index(after: start)...]
        guard let end = content.firstIndex(of: UInt8(ascii: "?")) else { return nil }
        return content[..<end]
    }

    /// The city has 13 characters, or fewer and a `^` after them.
    private static func city(
        _ bytes: ArraySlice<UInt8>
    ) -> (city: ArraySlice<UInt8>, rest: ArraySlice<UInt8>) {
        let city = bytes.prefix(13).prefix { $0 != UInt8(ascii: "^") }
        let rest = bytes[city.endIndex...]
        return (city, rest.first == UInt8(ascii: "^") ? rest.dropFirst() : rest)
    }

    /// Family, first and further names, separated by `$` or a comma. Given names may also be separated by blanks.
    private static func name(_ bytes: ArraySlice<UInt8>) -> PersonName {
        let parts = parts(bytes, separators: "$,")
        guard parts.count > 1 else { return PersonName(spoken: parts.first ?? "") }
        let given = parts.dropFirst().flatMap { $0.split(separator: " ").map(String.init) }
        let further = given.dropFirst()
        return PersonName(
            family: parts.first, given: given.first, middle: further.isEmpty ? nil : further.joined(separator: " "))
    }

    /// The birthday. If the day is 00, or both month and day are, it is the latest possible birthday.
    private static func birth(_ digits: ArraySlice<UInt8>) -> (day: CalendarDate?, isInFull: Bool) {
        guard let number = number(digits, width: 8) else { return (nil, true) }
        let (year, month, day) = (number / 10_000, number / 100 % 100, number % 100)
        guard day == 0 else { return (CalendarDate(year: year, month: month, day: day), true) }
        let latest = CalendarDate(lastDayOf: month == 0 ? 12 : month, year: year)
        return (latest, latest == nil)
    }

    /// The last day of the month. The month 77 means that the card does not expire, 88 the end of the month of birth,
    /// and 99 the birthday itself. Four nines mean never, as in a barcode.
    private static func expiry(
        _ digits: ArraySlice<UInt8>, birth: CalendarDate?, today: CalendarDate
    ) -> CalendarDate? {
        guard let number = number(digits, width: 4) else { return nil }
        if number == 9999 { return .never }
        let century = today.year / 100 * 100
        let years = [century + 100, century, century - 100].map { $0 + number / 100 }
        guard let year = years.first(where: { (today.year - 50..<today.year + 50).contains($0) }) else { return nil }
        switch (number % 100, birth) {
        case (let month, _) where (1...12).contains(month): return CalendarDate(lastDayOf: month, year: year)
        case (77, _): return .never
        case (88, let birth?): return CalendarDate(lastDayOf: birth.month, year: year)
        case (99, let birth?):
            return CalendarDate(year: year, month: birth.month, day: birth.day)
                ?? CalendarDate(lastDayOf: birth.month, year: year)
        default: return nil
        }
    }

    private static func sex(_ character: UInt8) -> IdentityCard.Sex? {
        switch character {
        case UInt8(ascii: "M"), UInt8(ascii: "1"): .male
        case UInt8(ascii: "F"), UInt8(ascii: "2"): .female
        case UInt8(ascii: "X"), UInt8(ascii: "9"): .unspecified
        default: nil
        }
    }

    private static func number(_ digits: ArraySlice<UInt8>, width: Int) -> Int? {
        guard digits.count == width, digits.allSatisfy(\.isDigit) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    private static func parts(_ bytes: ArraySlice<UInt8>, separators: StaticString) -> [String] {
        let separators = separators.withUTF8Buffer { Array($0) }
        return bytes.split { separators.contains($0) }.compactMap(text)
    }

    /// Printable characters without surrounding blanks; `nil` if none remain.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
        let text = AAMVAValues.printable(raw(bytes))
        return text.isEmpty ? nil : text
    }

    private static func raw(_ bytes: ArraySlice<UInt8>) -> String {
        String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}
