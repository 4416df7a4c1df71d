import Testing

@testable import PhoneNumbers

@Suite("A pattern over digits")
struct DigitPatternTests {
    private func digits(_ text: String) throws -> DigitText {
        try #require(DigitText(text.utf8.map { $0 &- UInt8(ascii: "0") }))
    }

    @Test(
        "matches a whole number or none of it",
        arguments: [
            (#"[2-9]\d{9}|3\d{6}"#, ["2015550123", "3123456"], ["1015550123", "201555012", "2123456", ""]),
            (#"1(?:2[03-5]|4)?9{1,3}"#, ["19", "1999", "120999", "1259", "1499"], ["1", "129", "1219", "19999"]),
            (#"(1|12)(3|23)\d?$"#, ["13", "123", "1223", "12239"], ["12", "12339"]),
            ("", [""], ["1"]),
        ])
    func whole(pattern: String, matching: [String], others: [String]) throws {
        let pattern = try #require(DigitPattern(pattern))
        for text in matching { #expect(pattern.matchesWhole(try digits(text)), "\(text)") }
        for text in others { #expect(!pattern.matchesWhole(try digits(text)), "\(text)") }
    }

    @Test(
        "finds the prefix that a backtracking engine finds first, with its groups",
        arguments: [
            ("0|00", "0044", 1, []), ("00?", "0044", 2, []), ("00(?:30|5[09]|[126-9]?)", "0030", 4, []),
            ("00(?:30|5[09]|[126-9]?)", "0044", 2, []), (#"([2-9]\d{6})$|1"#, "2345678", 7, [0..<7]),
            (#"([2-9]\d{6})$|1"#, "12345678", 1, [nil]),
            (#"(?:0|90)(?:(1[245]|31)(\d{10,11}))?"#, "01511961234567", 14, [1..<3, 3..<14]),
            (#"(?:0|90)(?:(1[245]|31)(\d{10,11}))?"#, "0151196123", 1, [nil, nil]),
            ("0?(?:(11|2(?:20?|3))15)?", "0111523456789", 5, [1..<3]), ("(?:(1)|(12))3?", "123", 1, [0..<1, nil]),
            (#"\d{2,4}0"#, "10200", 5, []),
        ] as [(String, String, Int, [Range<Int>?])])
    func prefix(pattern: String, text: String, end: Int, groups: [Range<Int>?]) throws {
        let pattern = try #require(DigitPattern(pattern))
        #expect(try pattern.prefix(of: digits(text)) == DigitPrefix(end: end, groups: groups))
    }

    @Test("is not read in any syntax beyond what numbering plans use")
    func syntax() {
        let outside = [
            "a", "1*", "1+", "(1", "1)", "[1", "[5-2]", "[^1]", "1{2", "1{3,2}", "1{,2}", "(?=1)", ".", #"\w"#, "^1",
        ]
        for text in outside { #expect(DigitPattern(text) == nil, "\(text)") }
    }

    @Test("stands in every plan of the world: each row is read")
    func plans() {
        let rows = PhoneMetadata.rows.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 2) }
        #expect(rows.count == 254)
        for (code, ofCode) in Dictionary(grouping: rows, by: { $0[0] }) {
            let plans = NumberingPlan.plans(countryCallingCode: Int(code) ?? 0)
            #expect(plans.map(\.region) == ofCode.map { String($0[1]) }, "\(code)")
        }
        for row in rows where row[1] != "001" {
            #expect(NumberingPlan.plan(region: String(row[1]))?.region == String(row[1]))
        }
    }

    @Test("takes at most 63 digits, and all of them at once")
    func limit() throws {
        #expect(DigitText([UInt8](repeating: 1, count: 64)) == nil)
        #expect(DigitText([10]) == nil)
        let long = try #require(DigitText([UInt8](repeating: 1, count: 63)))
        let pattern = try #require(DigitPattern(#"(?:\d{0,9}\d{0,9}1?){0,9}"#))
        #expect(pattern.matchesWhole(long))
        #expect(pattern.prefix(of: long)?.end == 63)
    }
}
