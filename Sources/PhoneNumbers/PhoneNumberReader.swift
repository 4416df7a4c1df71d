/// Parses a person's text into a country calling code and a national number, by the steps of libphonenumber's
/// `parse`.
///
/// Unlike libphonenumber, it refuses letters and extensions. It also refuses a region without a plan, even if the
/// region is not needed.
struct PhoneNumberReader {
    /// The longest accepted text, in Unicode scalars.
    static let characterLimit = 64
    /// The shortest national number, in digits.
    private static let fewestDigits = 2
    /// The longest national number, in digits. The ITU allows 15 with the country code, but Germany has longer ones.
    private static let mostDigits = 17

    let countryCallingCode: Int
    /// The national (significant) number: without a national prefix, with the leading zeros that belong to it.
    let national: DigitText

    /// Parses a text.
    ///
    /// - Parameter region: the region where the number would be dialled. Required for national form, and for an
    ///   international prefix.
    init(_ text: String, region: String?) throws(PhoneNumberDefect) {
        let written = Array(text.unicodeScalars.prefix(Self.characterLimit + 1))
        guard written.count <= Self.characterLimit else { throw .tooManyCharacters }
        let scalars = Self.withoutScheme(written)
        let home = region.flatMap { NumberingPlan.plan(region: $0) }
        guard (region == nil) == (home == nil) else { throw .regionUnknown }
        let dialled = try DialledText(scalars)
        guard dialled.hasPlus || home != nil else { throw .regionNeeded }
        guard let digits = DigitText(dialled.digits) else { throw .tooLong }

        let (code, rest) = try Self.separate(digits, hasPlus: dialled.hasPlus, home: home)
        guard let plan = code.flatMap({ NumberingPlan.plans(countryCallingCode: $0).first }) ?? home else {
            throw .unknownCountryCode
        }
        guard rest.count >= Self.fewestDigits else { throw .tooShort }
        let stripped = plan.strippingNationalPrefix(rest)
        // A number that is too short without its prefix may be a short number that begins with the same digits.
        let national =
            switch plan.lengthVerdict(stripped.count) {
            case .tooShort, .localOnly, .notThere: rest
            case .possible, .tooLong: stripped
            }
        guard national.count >= Self.fewestDigits else { throw .tooShort }
        guard national.count <= Self.mostDigits else { throw .tooLong }
        countryCallingCode = plan.countryCallingCode
        self.national = national
    }

    /// The text without the `tel:` of a link (RFC 3966), in letters of any case.
    private static func withoutScheme(_ scalars: [Unicode.Scalar]) -> ArraySlice<Unicode.Scalar> {
        let rest = scalars.drop { $0.properties.isWhitespace }
        return isLink(rest) ? rest.dropFirst(4) : scalars[...]
    }

    /// Whether a text begins with `tel:`.
    static func isLink(_ scalars: some Collection<Unicode.Scalar>) -> Bool {
        scalars.prefix(4).map(\.lowercased) == Array("tel:".unicodeScalars)
    }

    /// Parses a canonical form; `nil` for anything else.
    init?(canonical: String) {
        let bytes = canonical.utf8
        guard bytes.first == UInt8(ascii: "+"), bytes.count <= Self.characterLimit else { return nil }
        let values = bytes.dropFirst().map { $0 &- UInt8(ascii: "0") }
        guard let digits = DigitText(values), let (code, rest) = Self.countryCallingCode(digits),
            (Self.fewestDigits...Self.mostDigits).contains(rest.count)
        else { return nil }
        countryCallingCode = code
        national = rest
    }

    /// The country calling code in a number, `nil` for none, and the remaining digits.
    private static func separate(
        _ digits: DigitText, hasPlus: Bool, home: NumberingPlan?
    ) throws(PhoneNumberDefect) -> (code: Int?, rest: DigitText) {
        if hasPlus {
            guard digits.count > fewestDigits else { throw .tooShort }
            if let found = countryCallingCode(digits) { return (found.code, found.rest) }
            // Some people write a plus before a number in national form.
            let found = try separate(digits, hasPlus: false, home: home)
            guard found.code != nil else { throw .unknownCountryCode }
            return found
        }
        guard let home else { return (nil, digits) }
        // No country calling code begins with 0. If a 0 follows, the digits before it are not an international prefix.
        if let prefix = home.internationalPrefix?.prefix(of: digits), let rest = suffix(of: digits, from: prefix.end),
            rest.digits.first != 0
        {
            guard rest.count > fewestDigits else { throw .tooShort }
            guard let found = countryCallingCode(rest) else { throw .unknownCountryCode }
            return (found.code, found.rest)
        }
        // The country's own code without a plus, if the number is not valid with those digits.
        let own = DigitText.digits(of: home.countryCallingCode)
        if digits.digits.starts(with: own), let rest = suffix(of: digits, from: own.count) {
            let national = home.strippingNationalPrefix(rest)
            let isTooLong = home.lengthVerdict(digits.count) == .tooLong
            if isTooLong || (!home.covers(digits) && home.covers(national)) {
                return (home.countryCallingCode, national)
            }
        }
        return (nil, digits)
    }

    /// The country calling code, one to three digits, at the start of an international number, and the remaining
    /// digits.
    private static func countryCallingCode(_ digits: DigitText) -> (code: Int, rest: DigitText)? {
        guard digits.digits.first != 0 else { return nil }
        var code = 0
        for (position, digit) in digits.digits.prefix(3).enumerated() {
            code = code * 10 + Int(digit)
            if NumberingPlan.isAssigned(countryCallingCode: code) {
                return suffix(of: digits, from: position + 1).map { (code, $0) }
            }
        }
        return nil
    }

    private static func suffix(of digits: DigitText, from start: Int) -> DigitText? {
        DigitText(digits.digits[start...])
    }
}

/// A dialled number: digits of any script as values, and whether a plus precedes them.
private struct DialledText {
    let hasPlus: Bool
    let digits: [UInt8]

    /// Finds the one number in a text. Characters around it are ignored; only punctuation is allowed between its
    /// digits.
    init(_ scalars: ArraySlice<Unicode.Scalar>) throws(PhoneNumberDefect) {
        if let letter = scalars.firstIndex(where: Self.isLetter) {
            throw Self.isExtension(scalars, word: letter) ? .extension : .letters
        }
        guard let start = scalars.firstIndex(where: { $0.isPlus || $0.decimalDigit != nil }) else { throw .notANumber }
        let end = scalars.lastIndex { $0.isNumber || $0 == "#" || $0 == Self.longVowelMark } ?? start
        guard start <= end else { throw .notANumber }
        let number = scalars[start...end]
        // A number sign, comma, semicolon or tilde makes a telephone wait and then dial an extension. After a star or a
        // number sign, or fewer than three digits, the text is a code of the network, such as *100#.
        if let mark = number.indices.first(where: { Self.isExtensionMark(number, $0) }) {
            let isCode = scalars[..<start].last.map { $0 == "*" || $0 == "#" } ?? false
            throw isCode || Self.digits(number[..<mark]) < 3 ? .notANumber : .extension
        }
        let rest = number.drop(while: \.isPlus)
        var digits: [UInt8] = []
        for scalar in rest {
            if let digit = scalar.decimalDigit {
                digits.append(digit)
            } else if !scalar.isDialPunctuation, !Self.extensionMarks.contains(scalar) {
                throw .notANumber
            }
        }
        guard !digits.isEmpty else { throw .notANumber }
        // Two digits alone can be a short number; with other characters they are not a number.
        guard digits.count >= 3 || (digits.count == 2 && number.count == 2) else { throw .tooShort }
        hasPlus = rest.startIndex > number.startIndex
        self.digits = digits
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool { scalar.isLetter && scalar != longVowelMark }

    private static func digits(_ scalars: ArraySlice<Unicode.Scalar>) -> Int {
        scalars.count { $0.decimalDigit != nil }
    }

    /// Whether there is a mark of an extension. The tilde after one digit is none: in Russia, 8~10 waits for a tone
    /// before the number abroad.
    private static func isExtensionMark(_ number: ArraySlice<Unicode.Scalar>, _ place: Int) -> Bool {
        guard extensionMarks.contains(number[place]) else { return false }
        return !tildes.contains(number[place]) || digits(number[..<place]) > 1
    }

    /// Whether a word that begins there is the only one, after a number, and means an extension: `x5`, `;ext=5`.
    private static func isExtension(_ scalars: ArraySlice<Unicode.Scalar>, word start: Int) -> Bool {
        let word = scalars[start...].prefix(while: isLetter)
        let rest = scalars[word.endIndex...]
        let text = String(String.UnicodeScalarView(word.map(\.lowercased)))
        return extensionWords.contains { $0.utf8.elementsEqual(text.utf8) } && digits(scalars[..<start]) >= 3
            && digits(rest) > 0 && !rest.contains(where: isLetter)
    }

    private static let extensionWords = ["x", "ext", "extn", "extension"]
    /// A letter by Unicode, but used as a dash in Japanese numbers.
    private static let longVowelMark: Unicode.Scalar = "\u{30FC}"
    private static let extensionMarks: Set<Unicode.Scalar> = ["#", "\u{FF03}", ",", ";", "~", "\u{FF5E}"]
    private static let tildes: Set<Unicode.Scalar> = ["~", "\u{FF5E}"]
}

extension DigitText {
    fileprivate static func digits(of value: Int) -> [UInt8] {
        String(value).utf8.map { $0 - UInt8(ascii: "0") }
    }
}
