import Domain

/// How an issuer derives its document numbers from the holder's name and birthday, where its rule is public.
///
/// Numbers of another form, which most issuers also give out, have no such part. A number may be as old as the holder's
/// name before a marriage. The rules come from public descriptions, so a number that denies them is only reported.
struct IssuerNumberRule {
    /// One letter for each character: `F` the family name's first letter, `S` its Soundex digits, `N` its first
    /// letters, `Y` year, `M` month, `W` month or 50 more, `D` day, `A` and `I` the days of Florida and Illinois, `C`
    /// the month of Connecticut. Digits stand for themselves, and a dot for any character.
    private static let patterns: [String: String] = [
        "FL": "FSSS...YYAAA.", "IL": "FSSS...YYIII", "WI": "FSSS...YYAAA..", "MD": "FSSS.........",
        "MI": "FSSS.........",
        "NJ": "F.........WWYY.", "MT": "MM...YYYY41DD", "ND": "NNNYY....", "NH": "MM...YYDD.", "CT": "CC.......",
        "NL": "FYYMMDD...", "NS": "NNNNNDDMMYY...", "ON": "F........YYWWDD", "QC": "F....DDMMYY..",
    ]

    private let pattern: [UInt8]

    /// The rule of a jurisdiction, if it is public.
    init?(_ jurisdiction: String) {
        guard let pattern = Self.patterns[jurisdiction] else { return nil }
        self.pattern = Array(pattern.utf8)
    }

    /// Whether a number follows from name and birthday; `nil` if it has another form.
    func admits(_ number: String, family: String, birth: CalendarDate) -> Bool? {
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
        var isAdmitted = true
        for (kind, written) in parts {
            guard let fits = Self.fits(kind, written, name: name, birth) else { return nil }
            isAdmitted = isAdmitted && fits
        }
        return isAdmitted
    }

    private static func fits(_ kind: UInt8, _ written: [UInt8], name: [UInt8], _ birth: CalendarDate) -> Bool? {
        switch kind {
        case UInt8(ascii: "F"): return written.allSatisfy(\.isCapital) ? written.first == name.first : nil
        case UInt8(ascii: "N"):
            guard written.allSatisfy(\.isCapital) else { return nil }
            return name.count < written.count || name.starts(with: written)
        default: break
        }
        guard written.allSatisfy(\.isDigit) else { return nil }
        let value = written.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        switch kind {
        case UInt8(ascii: "S"): return value == soundex(name)
        case UInt8(ascii: "Y"): return value == (written.count == 4 ? birth.year : birth.year % 100)
        case UInt8(ascii: "M"): return value == birth.month
        case UInt8(ascii: "W"): return value % 50 == birth.month
        case UInt8(ascii: "D"): return value == birth.day
        // 500 or 600 more for women.
        case UInt8(ascii: "A"): return value % 500 == (birth.month - 1) * 40 + birth.day
        case UInt8(ascii: "I"): return value % 600 == (birth.month - 1) * 31 + birth.day
        case UInt8(ascii: "C"): return value == birth.month + (birth.year % 2 == 0 ? 12 : 0)
        default: return nil
        }
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
