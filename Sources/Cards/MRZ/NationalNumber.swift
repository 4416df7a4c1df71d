import Domain

/// The number that some states give a person for life and write into the optional data of their documents. Most have a
/// check digit, the birthday and the sex.
///
/// The rules are public; python-stdnum has the same.
enum NationalNumber {
    /// Whether the number has the right check digit, the zone's birthday and its sex. `nil` if the state has no known
    /// rule, or if no optional data has the form of its number.
    ///
    /// - Parameters:
    ///   - optional: the fields of optional data, with fillers.
    ///   - birth: the six digits of the birthday in the zone.
    ///   - year: the year of birth that these digits mean.
    ///   - sex: the sex in the zone. Only a man's or a woman's number is compared with it.
    static func fits(
        _ optional: [[UInt8]], of state: String, birth: [UInt8], year: Int?, sex: IdentityCard.Sex?, isTD2: Bool
    ) -> Bool? {
        let filler = UInt8(ascii: "<")
        let fields = optional.map { field in
            let start = field.drop { $0 == filler }
            return Array(start.reversed().drop { $0 == filler }.reversed())
        }
        for field in fields {
            guard let number = Number(field, of: state, birth: birth, year: year, isTD2: isTD2) else { continue }
            let isSexRight = sex.map { $0 == .unspecified || $0 == number.sex ?? $0 } ?? true
            return number.isCheckRight && isSexRight && (number.birth == nil || number.birth == digits(birth))
        }
        return nil
    }

    private struct Number {
        let isCheckRight: Bool
        /// The birthday as the zone writes it; `nil` if the number does not say.
        let birth: [Int]?
        /// `nil` if the number does not say.
        private(set) var sex: IdentityCard.Sex?

        init?(_ field: [UInt8], of state: String, birth: [UInt8], year: Int?, isTD2: Bool) {
            if state == "ESP" {
                guard let isRight = NationalNumber.isSpanish(field) else { return nil }
                (isCheckRight, self.birth) = (isRight, nil)
                return
            }
            guard let d = digits(field) else { return nil }
            // Only for numbers whose birthday begins with the year.
            let month = value(d.dropFirst(2).prefix(2))
            switch (state, d.count) {
            case ("BEL", 11):
                // A 2 precedes the numbers of persons born since 2000 in the computation.
                let number = value(d.prefix(9)) + ((year ?? 0) < 2000 ? 0 : 2_000_000_000)
                isCheckRight = 97 - number % 97 == value(d.suffix(2))
                // 20 or 40 more for persons whose sex or birthday was unknown. Then the month may be missing.
                self.birth = month % 20 == 0 ? nil : day(d[0..<6], month: month % 20)
                sex = (20..<40).contains(month) ? nil : ofMan(d[8])
            case ("EST", 11), ("LTU", 11):
                let first = weighted(d, by: [1, 2, 3, 4, 5, 6, 7, 8, 9, 1]) % 11
                let second = weighted(d, by: [3, 4, 5, 6, 7, 8, 9, 1, 2, 3]) % 11
                isCheckRight = (first < 10 ? first : second % 10) == d[10]
                // Lithuania's numbers that begin with a nine contain no birthday.
                self.birth = d[0] == 9 ? nil : Array(d[1..<7])
                sex = d[0] == 9 ? nil : ofMan(d[0])
            case ("SWE", 10), ("SWE", 12):
                let last = Array(d.suffix(10))
                isCheckRight = isLuhn(last)
                // 60 more than the day for persons who are not registered.
                let days = value(last[4..<6])
                self.birth = days > 60 ? last[0..<4] + [(days - 60) / 10, (days - 60) % 10] : Array(last[0..<6])
                sex = ofMan(last[8])
            case ("ROU", 13):
                (isCheckRight, self.birth) = (isRomanian(d), Array(d[1..<7]))
                // Nine is the digit of a foreigner of either sex.
                sex = d[0] == 9 ? nil : ofMan(d[0])
            case ("ROU", 7) where isTD2:
                // The zone of an identity card omits the birthday, which it has already.
                guard let birth = digits(birth) else { return nil }
                (isCheckRight, self.birth) = (isRomanian(d.prefix(1) + birth + d.suffix(6)), nil)
                sex = d[0] == 9 ? nil : ofMan(d[0])
            case ("BGR", 10):
                isCheckRight = weighted(d, by: [2, 4, 8, 5, 10, 9, 7, 3, 6]) % 11 % 10 == d[9]
                // 20 more than the month for the 19th century, 40 more for the 21st.
                self.birth = day(d[0..<6], month: month % 20)
                sex = ofMan(d[8] + 1)
            case ("POL", 11):
                isCheckRight = (10 - weighted(d, by: [1, 3, 7, 9, 1, 3, 7, 9, 1, 3]) % 10) % 10 == d[10]
                // 20 more than the month for each century after the 20th, 80 for the 19th.
                self.birth = day(d[0..<6], month: month % 20)
                sex = ofMan(d[9])
            case ("CZE", 10), ("SVK", 10):
                // Until 1985 the last digit was 0 if the remainder was ten.
                let left = value(d.prefix(9)) % 11
                isCheckRight = (left == 10 ? 0 : left) == d[9]
                // 50 more than the month for women, and 20 more if a day's numbers are used up.
                self.birth = day(d[0..<6], month: month % 50 % 20)
                sex = month > 50 ? .female : .male
            case ("HRV", 11):
                isCheckRight = isCroatian(d)
                self.birth = nil
            default: return nil
            }
        }
    }

    /// Digits and a letter that follows from them; foreigners' numbers begin with X, Y or Z. `nil` for any other form.
    private static func isSpanish(_ field: [UInt8]) -> Bool? {
        guard field.count == 9, let first = field.first, let last = field.last, last.isCapital else { return nil }
        let foreign = Array("XYZ".utf8).firstIndex(of: first)
        guard let rest = digits(foreign == nil ? Array(field.prefix(8)) : Array(field[1..<8])) else { return nil }
        let number = (foreign ?? 0) * 10_000_000 + value(rest)
        return Array("TRWAGMYFPDXBNJZSQVHLCKE".utf8)[number % 23] == last
    }

    private static func isRomanian(_ d: some Collection<Int>) -> Bool {
        let d = Array(d)
        let sum = weighted(d, by: [2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9]) % 11
        return (sum == 10 ? 1 : sum) == d.last
    }

    /// Verifies the digit of ISO/IEC 7064, MOD 11,10.
    private static func isCroatian(_ d: [Int]) -> Bool {
        let product = d.dropLast().reduce(10) { product, digit in
            let sum = (product + digit) % 10
            return (sum == 0 ? 10 : sum) * 2 % 11
        }
        return (11 - product) % 10 == d.last
    }

    /// The sex that a digit encodes. Most states give men odd digits.
    private static func ofMan(_ digit: Int) -> IdentityCard.Sex { digit % 2 == 1 ? .male : .female }

    private static func isLuhn(_ d: [Int]) -> Bool {
        let sum = d.reversed().enumerated().reduce(0) { sum, place in
            let twice = place.element * 2
            return sum + (place.offset % 2 == 0 ? place.element : twice > 9 ? twice - 9 : twice)
        }
        return sum % 10 == 0
    }

    private static func weighted(_ d: [Int], by weights: [Int]) -> Int {
        zip(d, weights).reduce(0) { $0 + $1.0 * $1.1 }
    }

    private static func day(_ d: ArraySlice<Int>, month: Int) -> [Int] {
        d.prefix(2) + [month / 10, month % 10] + d.suffix(2)
    }

    private static func digits(_ field: [UInt8]) -> [Int]? {
        guard !field.isEmpty, field.allSatisfy(\.isDigit) else { return nil }
        return field.map { Int($0 - UInt8(ascii: "0")) }
    }

    /// The number that at most 13 digits make.
    private static func value(_ d: some Sequence<Int>) -> Int { d.reduce(0) { $0 * 10 + $1 } }
}
