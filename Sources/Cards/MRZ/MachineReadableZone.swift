import Domain

/// The machine readable zone of a travel document (ICAO 9303): passports, passport cards and national identity cards.
package struct MachineReadableZone: Sendable, Equatable, Confidential {
    /// The size of the document.
    let format: MachineReadableFormat
    let identityCard: IdentityCard
    /// Each check digit and whether it is right, in the zone's order.
    let checkDigits: [CheckedDigit]
    /// Whether the holder's national number in the optional data has the right check digit, the zone's birthday and its
    /// sex.
    /// `nil` if there is none of a known form.
    let nationalNumberFits: Bool?

    struct CheckedDigit: Sendable, Equatable {
        let field: Field
        /// Whether the digit is right.
        let fits: Bool
    }

    /// The fields that have a check digit.
    enum Field: String, Sendable, CaseIterable {
        case documentNumber = "document_number"
        case dateOfBirth = "date_of_birth"
        case dateOfExpiry = "date_of_expiry"
        case optionalData = "optional_data"
        case composite
    }

    /// Whether every check digit is right.
    var allCheckDigitsFit: Bool { checkDigits.allSatisfy(\.fits) }

    /// The longest accepted text, in bytes. The longest zone has 90 characters and a few line ends.
    static let maximumLength = 256

    /// Parses the lines of a zone, with or without line ends and blanks between them. Lower-case letters are accepted
    /// as capitals: the alphabet has no others, so there is no ambiguity.
    ///
    /// - Parameter today: the day that resolves two-digit years. A birth is in the past, an expiry at most 50 years
    ///   before and 49 after it.
    /// - Throws: `Refusal` `malformed_request` if it is not a zone: another length, an invalid character, or a code
    ///   that no identity document has. Wrong check digits and dates do not throw.
    package static func read(_ text: String, today: CalendarDate) throws(Refusal) -> MachineReadableZone {
        guard text.utf8.count <= maximumLength else {
            throw Refusal.zoneTooLong(allowed: maximumLength)
        }
        let zone = text.utf8.filter { ![0x0A, 0x0D, 0x20, 0x09].contains($0) }.map(\.capitalised)
        // First, because a character outside ASCII has several bytes, and the length below would not be its own.
        guard zone.allSatisfy({ $0.isCapital || $0.isDigit || $0 == filler }) else {
            throw Refusal.wrongZoneCharacter
        }
        guard let format = MachineReadableFormat.allCases.first(where: { $0.length == zone.count }) else {
            throw Refusal.wrongZoneLength(zone.count)
        }
        // These look like TD2, but have another layout and no day of expiry.
        guard format != .td2 || !zone.starts(with: "IDFRA".utf8) else {
            throw Refusal.formerFrenchCard
        }
        guard let kind = kind(of: zone, format) else {
            throw Refusal.wrongZoneKind
        }
        return MachineReadableZone(zone, format: format, kind: kind, today: today)
    }

    private init(_ zone: [UInt8], format: MachineReadableFormat, kind: IdentityCard.Kind, today: CalendarDate) {
        self.format = format
        let number = Self.documentNumber(zone, format)
        var card = IdentityCard(source: .mrz, kind: kind)
        card.name = Self.name(zone[format.name])
        card.documentNumber = number.text
        let birth = MachineReadableDate.birth(zone[format.birth], today: today)
        card.dateOfBirth = birth?.day
        card.isBirthdayInFull = birth?.isInFull ?? true
        card.sex = Self.sex(zone[format.sex])
        card.country = Self.trimmed(zone[format.issuingState])
        card.expiresOn = MachineReadableDate.expiry(zone[format.expiry], of: card.country, format, today: today)
        card.nationality = Self.trimmed(zone[format.nationality])
        card.fields = Self.fields(zone, format)
        identityCard = card
        nationalNumberFits = card.country.flatMap { state in
            let optional = [format.optionalData, format.furtherOptionalData].compactMap { $0.map { Array(zone[$0]) } }
            return NationalNumber.fits(
                optional, of: state, birth: Array(zone[format.birth]), year: birth?.day.year, sex: card.sex,
                isTD2: format == .td2)
        }
        checkDigits = Self.verifyCheckDigits(zone, format, numberFits: number.fits)
    }

    private static let filler = UInt8(ascii: "<")

    private static func kind(of zone: [UInt8], _ format: MachineReadableFormat) -> IdentityCard.Kind? {
        switch (format, zone[0]) {
        case (.td3, UInt8(ascii: "P")): .passport
        // The second letter of an identity document is never V (ICAO 9303-5 §4.2.2).
        case (.td1, UInt8(ascii: "A")), (.td1, UInt8(ascii: "C")), (.td1, UInt8(ascii: "I")),
            (.td2, UInt8(ascii: "A")), (.td2, UInt8(ascii: "C")), (.td2, UInt8(ascii: "I")):
            zone[1] == UInt8(ascii: "V") ? nil : .identification
        default: nil
        }
    }

    /// A number of more than nine characters has `<` as its check digit and continues in the optional data. The rest
    /// follows there, then the check digit over the whole number, then `<` (ICAO 9303-5 §4.2.4, 9303-6 §4.2.4).
    /// Portugal and others compute the digit over the characters as they are written, including the `<`, so both digits
    /// are right.
    private static func documentNumber(
        _ zone: [UInt8], _ format: MachineReadableFormat
    ) -> (text: String, fits: Bool) {
        let field = zone[format.documentNumber]
        let digit = zone[format.documentNumber.upperBound]
        guard digit == filler, format != .td3 else { return (trimmed(field) ?? "", CheckDigit.over(field) == digit) }
        let overflow = zone[format.optionalData].prefix { $0 != filler }
        guard let last = overflow.last, overflow.count > 1 else { return (trimmed(field) ?? "", false) }
        let whole = Array(field) + overflow.dropLast()
        let asWritten = Array(field) + [filler] + overflow.dropLast()
        return (trimmed(whole[...]) ?? "", CheckDigit.over(whole) == last || CheckDigit.over(asWritten) == last)
    }

    private static func verifyCheckDigits(_ zone: [UInt8], _ format: MachineReadableFormat, numberFits: Bool)
        -> [CheckedDigit]
    {
        // The digit of an empty field may be omitted (ICAO 9303-4 §4.2.2).
        func fits(_ range: Range<Int>) -> Bool {
            let digit = zone[range.upperBound]
            return CheckDigit.over(zone[range]) == digit || (digit == filler && zone[range].allSatisfy { $0 == filler })
        }
        var checked = [
            CheckedDigit(field: .documentNumber, fits: numberFits),
            CheckedDigit(field: .dateOfBirth, fits: fits(format.birth)),
            CheckedDigit(field: .dateOfExpiry, fits: fits(format.expiry)),
        ]
        if format == .td3 {
            checked.append(CheckedDigit(field: .optionalData, fits: fits(format.optionalData)))
        }
        let composite = CheckDigit.over(format.composite.flatMap { zone[$0] })
        checked.append(CheckedDigit(field: .composite, fits: composite == zone[format.compositeDigit]))
        return checked
    }

    /// Parses `FAMILY<NAME<<GIVEN<NAMES`. A field without trailing fillers may have been cut off, at its end or within
    /// the names before. Any other field is complete.
    private static func name(_ field: ArraySlice<UInt8>) -> PersonName {
        let parts = words(field)
        var name = PersonName()
        name.family = parts.primary.isEmpty ? nil : parts.primary.joined(separator: " ")
        name.given = parts.secondary.first
        let further = parts.secondary.dropFirst()
        name.middle = further.isEmpty ? nil : further.joined(separator: " ")
        let isFull = field.last != filler
        let before = isFull ? PersonName.Truncation.unknown : .complete
        name.familyTruncation = isFull && parts.secondary.isEmpty ? .truncated : before
        name.givenTruncation = isFull && parts.secondary.count == 1 ? .truncated : before
        name.middleTruncation = isFull && parts.secondary.count > 1 ? .truncated : before
        return name
    }

    private static func words(_ field: ArraySlice<UInt8>) -> (primary: [String], secondary: [String]) {
        func split(_ part: ArraySlice<UInt8>) -> [String] {
            part.split(separator: filler).map { String(decoding: $0, as: UTF8.self) }
        }
        let boundary = field.indices.dropLast().first { field[$0] == filler && field[$0 + 1] == filler }
        guard let boundary else { return (split(field), []) }
        return (split(field[..<boundary]), split(field[boundary...]))
    }

    private static func sex(_ character: UInt8) -> IdentityCard.Sex? {
        switch character {
        case UInt8(ascii: "F"): .female
        case UInt8(ascii: "M"): .male
        case filler, UInt8(ascii: "X"): .unspecified
        default: nil
        }
    }

    private static func trimmed(_ field: ArraySlice<UInt8>) -> String? {
        let content = field.filter { $0 != filler }
        return content.isEmpty ? nil : String(decoding: content, as: UTF8.self)
    }

    private static func fields(_ zone: [UInt8], _ format: MachineReadableFormat) -> [CardField] {
        var parts: [(String, Range<Int>, CardProperty?)] = [
            ("document_code", format.documentCode, .kind), ("issuing_state", format.issuingState, .country),
            ("name", format.name, .name), ("document_number", format.documentNumber, .documentNumber),
            ("date_of_birth", format.birth, .dateOfBirth), ("sex", format.sex..<format.sex + 1, .sex),
            ("date_of_expiry", format.expiry, .expiresOn), ("nationality", format.nationality, .nationality),
            ("optional_data", format.optionalData, nil),
        ]
        if let further = format.furtherOptionalData { parts.append(("further_optional_data", further, nil)) }
        return parts.map { name, range, property in
            CardField(
                element: name, raw: String(decoding: zone[range], as: UTF8.self), subfile: format.rawValue,
                property: property)
        }
    }
}
