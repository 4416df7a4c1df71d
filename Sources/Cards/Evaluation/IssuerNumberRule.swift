import Domain

/// How an issuer derives its document numbers from the holder's name, birthday and sex, if its rule is public.
///
/// Most issuers also use numbers of another form, without such parts. A number may be older than the holder's name
/// after a marriage, so a different name is only reported. Birthday and sex do not change with a marriage.
package struct IssuerNumberRule {
    /// One letter for each character: `F` the family name's first letter, `S` its Soundex digits, `N` its first
    /// letters, `Y` year, `M` month, `W` month or 50 more, `D` day, `A` and `I` the days of Florida and Illinois, `B`
    /// the days of Maryland and Michigan, `C` the month of Connecticut. Digits match themselves, and a dot matches any
    /// character. Descriptions of Montana's numbers differ, so both of its forms are here.
    private static let patterns: [String: String] = [
        "FL": "FSSS...YYAAA.", "IL": "FSSS...YYIII", "WI": "FSSS...YYAAA..", "MD": "FSSS......BBB",
        "MI": "FSSS......BBB",
        "NJ": "F.........WWYY.", "MT": "MM...YYYY41DD MM...YYYYDD41", "ND": "NNNYY....", "NH": "MM...YYDD.",
        "CT": "CC.......",
        "NL": "FYYMMDD...", "NS": "NNNNNDDMMYY...", "ON": "F........YYWWDD", "QC": "F....DDMMYY..",
    ]

    /// The number of each month's first day in Maryland and Michigan. They number the days of the year, with gaps for
    /// persons with the same name and birthday.
    private static let firstDays = [2, 86, 159, 258, 334, 412, 521, 603, 681, 757, 841, 917]

    private let pattern: [UInt8]

    /// Whether each part of a number fits its holder; `true` for a part that the issuer's numbers do not have.
    struct Findings: Equatable {
        var hasName = true
        var hasBirthday = true
        var hasSex = true
    }

    /// The public rules of a jurisdiction.
    private static func all(of jurisdiction: String) -> [IssuerNumberRule] {
        patterns[jurisdiction]?.split(separator: " ").map { IssuerNumberRule(pattern: Array($0.utf8)) } ?? []
    }

    /// Compares a card's number with its holder. `nil` if the number does not have the form that the issuer's rule
    /// gives, or if name or birthday are missing.
    static func findings(of card: IdentityCard) -> Findings? {
        guard let jurisdiction = card.jurisdiction, let birth = card.dateOfBirth, card.isBirthdayInFull,
            let family = card.name.family
        else { return nil }
        let found = all(of: jurisdiction).compactMap {
            $0.findings(in: card.normalisedNumber, family: family, birth: birth, sex: card.sex)
        }
        return found.first(where: \.hasBirthday) ?? found.first
    }

    /// A number of the issuer's form with the parts that its rule gives for a holder, for invented cards. Other numbers
    /// are returned unchanged.
    package static func fitting(
        _ number: String, of jurisdiction: String, family: String, birth: CalendarDate, sex: IdentityCard.Sex?
    ) -> String {
        guard let rule = all(of: jurisdiction).first, rule.pattern.count == number.utf8.count else { return number }
        let name = NameFolding.folded(family).utf8.filter(\.isCapital)
        var parts: [UInt8: ArraySlice<UInt8>] = [:]
        for kind in Set(rule.pattern) where !kind.isDigit && kind != UInt8(ascii: ".") {
            let width = rule.pattern.count { $0 == kind }
            if "FN".utf8.contains(kind) {
                parts[kind] = name.prefix(width)
            } else if let value = value(kind, width, name, birth, isFemale: sex == .female) {
                parts[kind] = Array(String(value + 10_000).utf8).suffix(width)
            }
        }
        let fitted = zip(rule.pattern, number.utf8).map { kind, character in
            kind.isDigit ? kind : parts[kind]?.popFirst() ?? character
        }
        return String(decoding: fitted, as: UTF8.self)
    }

    private static func value(_ kind: UInt8, _ width: Int, _ name: [UInt8], _ birth: CalendarDate, isFemale: Bool)
        -> Int?
    {
        switch kind {
        case UInt8(ascii: "S"): soundex(name)
        case UInt8(ascii: "Y"): width == 4 ? birth.year : birth.year % 100
        case UInt8(ascii: "M"): birth.month
        case UInt8(ascii: "W"): birth.month + (isFemale ? 50 : 0)
        case UInt8(ascii: "D"): birth.day
        case UInt8(ascii: "A"): (birth.month - 1) * 40 + birth.day + (isFemale ? 500 : 0)
        case UInt8(ascii: "I"): (birth.month - 1) * 31 + birth.day + (isFemale ? 600 : 0)
        case UInt8(ascii: "B"): firstDays[birth.month - 1] + (birth.day - 1) * 5 / 2
        case UInt8(ascii: "C"): birth.month + (birth.year % 2 == 0 ? 12 : 0)
        default: nil
        }
    }

    private func findings(
        in number: String, family: String, birth: CalendarDate, sex: IdentityCard.Sex?
    ) -> Findings? {
        let characters = Array(number.utf8)
        guard characters.count == pattern.count else { return nil }
        var parts: [UInt8: [UInt8]] = [:]
        for (kind, character) in zip(pattern, characters) where kind != UInt8(ascii: ".") {
            if kind.isDigit {
                guard kind == character else { return nil }
            } else {
                parts[kind, default: []].append(character)
            }
        }
        let name = NameFolding.folded(family).utf8.filter(\.isCapital)
        var found = Findings()
        for (kind, written) in parts {
            if "FNS".utf8.contains(kind) {
                guard let fits = Self.fits(kind, written, name: name) else { return nil }
                found.hasName = found.hasName && fits
            } else {
                guard let value = Self.value(written), let fits = Self.fits(kind, value, written.count, birth) else {
                    return nil
                }
                found.hasBirthday = found.hasBirthday && fits
                if let coded = Self.sex(kind, value), let sex, sex != .unspecified { found.hasSex = coded == sex }
            }
        }
        return found
    }

    private static func fits(_ kind: UInt8, _ written: [UInt8], name: [UInt8]) -> Bool? {
        guard kind == UInt8(ascii: "S") else {
            guard written.allSatisfy(\.isCapital) else { return nil }
            return name.count < written.count || name.starts(with: written)
        }
        return value(written).map { $0 == soundex(name) }
    }

    /// Whether a part of the number is from a birthday; `nil` if it can be from no birthday.
    private static func fits(_ kind: UInt8, _ written: Int, _ width: Int, _ birth: CalendarDate) -> Bool? {
        let (coded, possible): (Int, ClosedRange<Int>) =
            switch kind {
            case UInt8(ascii: "M"): (written, 1...12)
            case UInt8(ascii: "W"): (written % 50, 1...12)
            case UInt8(ascii: "D"): (written, 1...31)
            case UInt8(ascii: "A"): (written % 500, 1...471)
            case UInt8(ascii: "I"): (written % 600, 1...372)
            case UInt8(ascii: "C"): (written, 1...24)
            case UInt8(ascii: "B"): ((firstDays.lastIndex { $0 <= written } ?? -1) + 1, 1...12)
            default: (written, 0...9999)
            }
        guard possible.contains(coded) else { return nil }
        // Of the days in Maryland and Michigan only the month is compared.
        if kind == UInt8(ascii: "B") { return coded == birth.month }
        return coded == value(kind, width, [], birth, isFemale: false)
    }

    /// The sex that a part of the number encodes. The parts of women are greater.
    private static func sex(_ kind: UInt8, _ value: Int) -> IdentityCard.Sex? {
        switch kind {
        case UInt8(ascii: "W"): value > 50 ? .female : .male
        case UInt8(ascii: "A"): value > 500 ? .female : .male
        case UInt8(ascii: "I"): value > 600 ? .female : .male
        default: nil
        }
    }

    private static func value(_ digits: [UInt8]) -> Int? {
        guard digits.allSatisfy(\.isDigit) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    /// The three digits of a name in American Soundex.
    private static func soundex(_ name: [UInt8]) -> Int {
        var digits: [Int] = []
        var last = name.first.map(code) ?? 0
        for letter in name.dropFirst() where digits.count < 3 {
            // H and W do not separate equal sounds, vowels do.
            if letter == UInt8(ascii: "H") || letter == UInt8(ascii: "W") { continue }
            let sound = code(letter)
            if sound != 0, sound != last { digits.append(sound) }
            last = sound
        }
        return (digits + [0, 0, 0]).prefix(3).reduce(0) { $0 * 10 + $1 }
    }

    private static func code(_ letter: UInt8) -> Int {
        (["BFPV", "CGJKQSXZ", "DT", "L", "MN", "R"].firstIndex { $0.utf8.contains(letter) } ?? -1) + 1
    }
}
