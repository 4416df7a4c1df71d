import Foundation
import Testing

@testable import PhoneNumbers

@Suite("A telephone number")
struct PhoneNumberTests {
    @Test(
        "is one value, however it is written",
        arguments: [
            ("+14155552671", nil), ("+1 (415) 555-2671", nil), ("++1.415.555.2671", nil), (" +1 415 555 2671 .", nil),
            ("415-555-2671", "US"), ("1 415 555 2671", "US"), ("(415) 555‐2671", "CA"), ("011 1 415 555 2671", "US"),
            ("00 1 415 555 2671", "DE"), ("8~10 1 415 555 2671", "RU"), ("+00 1 415 555 2671", "DE"),
            ("＋１４１５５５５２６７１", nil),
            ("+١٤١٥٥٥٥٢٦٧١", nil), ("۴۱۵۵۵۵۲۶۷۱", "US"), ("+1\u{00A0}415\u{200B}555\u{3000}2671", nil),
            ("tel:+14155552671", nil), (" TEL:+1-415-555-2671", nil), ("Tel:(415) 555-2671", "US"),
        ] as [(String, String?)])
    func spellings(text: String, region: String?) throws {
        let number = try PhoneNumber(reading: text, region: region)
        #expect(number.e164 == "+14155552671")
        #expect(number.countryCallingCode == 1)
        #expect(number.region == "US")
        #expect(number.type == .fixedLineOrMobile)
    }

    @Test(
        "loses what is dialled only at home, and keeps what belongs to it",
        arguments: [
            // A national prefix.
            ("020 7031 3000", "GB", "+442070313000"), ("8 (495) 123-45-67", "RU", "+74951234567"),
            // An Italian zero is no prefix.
            ("06 6982 1234", "IT", "+390669821234"), ("+39 06 6982 1234", "IT", "+390669821234"),
            // A mobile in Argentina: 0, area, 15 at home; 9, area abroad.
            ("011 15 2345-6789", "AR", "+5491123456789"), ("+54 9 11 2345 6789", "AR", "+5491123456789"),
            ("222 123 4567", "MX", "+522221234567"),
            // A Brazilian carrier code.
            ("0 15 11 96123 4567", "BR", "+5511961234567"),
            // An area code that the region is known by.
            ("886123", "SM", "+3780549886123"), ("6422222", "VI", "+13406422222"),
            // The country calling code without a plus.
            ("49 30 123456", "DE", "+4930123456"),
        ])
    func national(text: String, region: String, e164: String) throws {
        #expect(try PhoneNumber(reading: text, region: region).e164 == e164)
    }

    @Test(
        "tells its region and type",
        arguments: [
            ("+14165550123", "CA", .fixedLineOrMobile), ("+18002345678", "US", .tollFree),
            ("+19002345678", "US", .premiumRate), ("+447400123456", "GB", .mobile), ("+441481256789", "GG", .fixedLine),
            ("+445612345678", "GB", .voip), ("+447012345678", "GB", .personalNumber), ("+445512345678", "GB", .uan),
            ("+447640123456", "GB", .pager), ("+80012345678", "001", .tollFree), ("+77710009998", "KZ", .mobile),
        ] as [(String, String, PhoneNumber.NumberType)])
    func kinds(text: String, region: String, type: PhoneNumber.NumberType) throws {
        let number = try PhoneNumber(reading: text)
        #expect(number.region == region)
        #expect(number.type == type)
    }

    @Test(
        "is refused with the reason, and with nothing of the text",
        arguments: [
            (String(repeating: "+14155552671 ", count: 6), nil, "too_many_characters"),
            ("415-555-2671", "us", "region_unknown"), ("+14155552671", "AQ", "region_unknown"),
            ("+14155552671", "001", "region_unknown"), ("415-555-2671", nil, "region_needed"),
            ("1-800-FLOWERS", "US", "letters"), ("+1 415 555 2671 x12", nil, "extension"),
            ("tel:+14155552671;ext=12", nil, "extension"), ("+1 415 555 2671 Ext. 12", nil, "extension"),
            ("+1 415 555 2671 extension 12", nil, "extension"), ("+1 415 555 2671 x", nil, "letters"),
            ("+1 415 555 2671 x12b", nil, "letters"), ("+1 415 555 2671 box 12", nil, "letters"),
            ("x12", nil, "letters"), ("tel:863-1234;phone-context=+1-914-555", nil, "letters"),
            ("*100#", nil, "not_a_number"), ("#31#+14155552671", nil, "not_a_number"),
            ("+14155552671#", nil, "extension"), ("*#06#", "DE", "not_a_number"),
            ("8~10 1 202 555 0100", nil, "region_needed"),
            ("+379 06 6982 1234", nil, "unknown_country_code"), ("+1", nil, "too_short"), ("0", "DE", "too_short"),
            ("telefon:+14155552671", nil, "letters"), ("tel:tel:+14155552671", nil, "letters"),
            ("tel:", nil, "not_a_number"), ("+14155552671#12", nil, "extension"),
            ("+14155552671,,12", nil, "extension"), ("+14155552671 ~ 12", nil, "extension"), ("", nil, "not_a_number"),
            ("+", "US", "not_a_number"), ("☎ _ ☎", "US", "not_a_number"), ("+1 415 + 555 2671", nil, "not_a_number"),
            ("+999 415 555 2671", nil, "unknown_country_code"), ("+0 415 555 2671", nil, "unknown_country_code"),
            ("+1 415 555 267", nil, "too_short"), ("555-2671", "US", "too_short"), ("+12", nil, "too_short"),
            ("+1 415 555 26712", nil, "too_long"), (String(repeating: "9", count: 64), "US", "too_long"),
            ("+1 415 055 2671", nil, "not_in_plan"), ("02999 999999", "GB", "not_in_plan"),
        ] as [(String, String?, String)])
    func refusals(text: String, region: String?, reason: String) {
        let defect = #expect(throws: PhoneNumberDefect.self) { try PhoneNumber(reading: text, region: region) }
        #expect(defect?.rawValue == reason)
        for run in text.split(whereSeparator: { !$0.isNumber }) where run.count > 2 {
            #expect(defect?.sentence.contains(run) == false)
        }
    }

    @Test("may be 64 characters long, punctuation included")
    func limit() throws {
        let text = "+14155552671"
        let padded = text + String(repeating: " ", count: 64 - text.count)
        #expect(try PhoneNumber(reading: padded).e164 == text)
        #expect(throws: PhoneNumberDefect.tooManyCharacters) {
            try PhoneNumber(reading: padded + " ")
        }
    }

    @Test("is masked wherever it is printed")
    func masked() throws {
        let number = try PhoneNumber(reading: "+14155552671")
        for printed in ["\(number)", String(reflecting: number), "\([number])", "\(Optional(number) as Any)"] {
            #expect(!printed.contains("415"), "\(printed)")
            #expect(printed.contains("+1…71"), "\(printed)")
        }
    }

    @Test("is reread from the store as it was, also where today's plan no longer has it")
    func canonical() throws {
        for text in ["+14155552671", "+390669821234", "+5491123456789", "+80012345678", "+441481256789"] {
            #expect(PhoneNumber(canonical: text) == (try PhoneNumber(reading: text)))
        }
        let gone = try #require(PhoneNumber(canonical: "+14150552671"))
        #expect(gone.e164 == "+14150552671")
        #expect(gone.region == "US")
        #expect(gone.type == .unknown)
        let wrong = [
            "", "+", "14155552671", "+1 4155552671", "+999123456", "+0123456", "+1", "+1４155552671", "+14155552671x",
            "+1" + String(repeating: "5", count: 18), "+" + String(repeating: "5", count: 80),
        ]
        for text in wrong { #expect(PhoneNumber(canonical: text) == nil, "\(text)") }
    }
}
