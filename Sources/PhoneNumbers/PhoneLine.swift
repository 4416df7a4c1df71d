/// The line of a telephone number: what is unique, banned and limited. Some countries' numbers of one line have two
/// spellings, and some were renumbered.
enum PhoneLine {
    /// What a country's second or former spellings are now.
    private struct Rule {
        let countryCallingCode: String
        /// Digits of the national number in such a spelling.
        let length: Int
        /// The national number of the line; `nil` for other spellings.
        let national: @Sendable (_ digits: [UInt8]) -> [UInt8]?
    }

    /// The rules by country, each with its source.
    private static let rules: [Rule] = [
        // Argentina: the 9 before the area code says that a mobile is called. Without it the number is the same line
        // (libphonenumber's FAQ on numbers of AR, and its issue 684).
        Rule(countryCallingCode: "54", length: 11) { $0.starts(with: [9]) ? Array($0.dropFirst()) : nil },
        // Mexico: the 1 before mobiles ended in August 2019 (Instituto Federal de Telecomunicaciones; libphonenumber
        // dropped it from its metadata and its FAQ in 2021).
        Rule(countryCallingCode: "52", length: 11) { $0.starts(with: [1]) ? Array($0.dropFirst()) : nil },
        // Brazil: mobiles got a 9 after the area code, 2012 to 2016 (Anatel, Resolução 553/2010). Those that began with 7
        // were trunked radio, and did not.
        Rule(countryCallingCode: "55", length: 10) { digits in
            [6, 8, 9].contains(digits[2]) ? Array(digits.prefix(2)) + [9] + digits.dropFirst(2) : nil
        },
        // Benin: 01 before each number since 30 November 2024 (ARCEP Bénin).
        Rule(countryCallingCode: "229", length: 8) { $0[0] > 1 ? [0, 1] + $0 : nil },
        // Côte d'Ivoire: ten digits since 31 January 2021 (ARTCI). The second digit of a mobile named its operator, whose
        // two digits come first now: Moov, MTN, Orange. Those of landlines began with 2 or 3.
        Rule(countryCallingCode: "225", length: 8) { digits in
            guard ![1, 2, 3].contains(digits[0]) else { return nil }
            let newFirst: UInt8 = digits[1] < 4 ? 1 : digits[1] < 7 ? 5 : 7
            return [0, newFirst] + digits
        },
    ]

    /// The number of the line, with its `+`; the same text for a number without a rule.
    static func canonical(_ e164: String) -> String {
        let digits = e164.utf8.dropFirst().map { $0 &- UInt8(ascii: "0") }
        guard e164.utf8.first == UInt8(ascii: "+"), digits.allSatisfy({ $0 < 10 }) else { return e164 }
        for rule in rules {
            let code = rule.countryCallingCode.utf8.map { $0 &- UInt8(ascii: "0") }
            guard digits.starts(with: code), digits.count == code.count + rule.length else { continue }
            guard let national = rule.national(Array(digits.dropFirst(code.count))) else { return e164 }
            return "+\(rule.countryCallingCode)"
                + String(decoding: national.map { $0 + UInt8(ascii: "0") }, as: UTF8.self)
        }
        return e164
    }
}

package extension PhoneNumber {
    /// The number of its line. Numbers that ring one telephone have one; it is compared, never texted to.
    var line: String { PhoneLine.canonical(e164) }

    /// The number that identifies the line of a stored number.
    static func line(ofStored e164: String) -> String { PhoneLine.canonical(e164) }
}
