/// A telephone number (ITU-T E.164) with the data of its numbering plan.
///
/// Texts are parsed once, at the edge; all other code uses the canonical form.
package struct PhoneNumber: Hashable, Sendable, CustomStringConvertible {
    /// `+`, the country calling code and the national number: `+14155552671`.
    package let e164: String
    /// The country calling code: 1 for North America.
    let countryCallingCode: Int
    /// The region, ISO 3166-1 alpha-2; `001` for numbers that belong to no region.
    package let region: String
    /// The kind of line by the numbering plan.
    package let type: NumberType

    /// Only the parser and the store create numbers.
    init(e164: String, countryCallingCode: Int, region: String, type: NumberType) {
        self.e164 = e164
        self.countryCallingCode = countryCallingCode
        self.region = region
        self.type = type
    }

    private init(valid number: PhoneNumberReader) throws(PhoneNumberDefect) {
        let (code, national) = (number.countryCallingCode, number.national)
        guard let plan = NumberingPlan.plan(countryCallingCode: code, national: national),
            case let type = plan.type(of: national), type != .unknown
        else {
            switch NumberingPlan.plans(countryCallingCode: code).first?.lengthVerdict(national.count) {
            case .tooShort, .localOnly: throw .tooShort
            case .tooLong: throw .tooLong
            case .possible, .notThere, nil: throw .notInPlan
            }
        }
        let digits = national.digits.map { $0 + UInt8(ascii: "0") }
        self.init(
            e164: "+\(code)" + String(decoding: digits, as: UTF8.self), countryCallingCode: code, region: plan.region,
            type: type)
    }
}

package extension PhoneNumber {
    /// The kinds of line in numbering plans (libphonenumber's `PhoneNumberType`).
    enum NumberType: String, Sendable, CaseIterable {
        case fixedLine = "fixed_line"
        case mobile
        case fixedLineOrMobile = "fixed_line_or_mobile"
        case tollFree = "toll_free"
        case premiumRate = "premium_rate"
        case sharedCost = "shared_cost"
        case voip
        case personalNumber = "personal_number"
        case pager
        case uan
        case voicemail
        case unknown
    }

    /// Parses a person's text as libphonenumber does, and accepts only numbers that are valid in their numbering
    /// plan.
    ///
    /// The international form with `+` is accepted. With a region, so are its national form, with or without national
    /// prefix and carrier code, and its international dialling prefix. Digits may be of any script, with the usual
    /// punctuation. Letters and extensions are refused: no code can be texted to an extension.
    ///
    /// - Parameters:
    ///   - text: at most 64 characters.
    ///   - region: where the number would be dialled, ISO 3166-1 alpha-2 in capitals; needed unless there is a `+`.
    /// - Throws: ``PhoneNumberDefect``; no part of the number is in it.
    init(reading text: String, region: String? = nil) throws(PhoneNumberDefect) {
        try self.init(valid: PhoneNumberReader(text, region: region))
    }

    /// Parses the ``e164`` of a number that was valid when it was stored; `nil` for anything else.
    ///
    /// Plans change. If the current plan has no such number, the region is the main one of the country calling code.
    /// The type is then ``PhoneNumber/NumberType/unknown``.
    init?(canonical e164: String) {
        guard let number = PhoneNumberReader(canonical: e164) else { return nil }
        let (code, national) = (number.countryCallingCode, number.national)
        guard
            let plan = NumberingPlan.plan(countryCallingCode: code, national: national)
                ?? NumberingPlan.plans(countryCallingCode: code).first
        else { return nil }
        self.init(e164: e164, countryCallingCode: code, region: plan.region, type: plan.type(of: national))
    }

    /// Whether the numbering plan of a region (ISO 3166-1 alpha-2) is known here.
    static func hasPlan(region: String) -> Bool { NumberingPlan.isKnown(region: region) }

    /// Whether a text is a `tel:` link (RFC 3966), which can be nothing but a number.
    static func isLink(_ text: String) -> Bool { PhoneNumberReader.isLink(text.unicodeScalars) }

    /// The country calling code and the last two digits, never the whole number.
    var description: String {
        "+\(countryCallingCode)…\(e164.suffix(2))"
    }
}
