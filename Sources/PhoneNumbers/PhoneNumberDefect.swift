/// Why a text is not a valid telephone number: the reason of the refusal.
package enum PhoneNumberDefect: String, Error, Sendable, CaseIterable {
    case tooManyCharacters = "too_many_characters"
    case regionUnknown = "region_unknown"
    case regionNeeded = "region_needed"
    case letters
    case `extension`
    case notANumber = "not_a_number"
    case unknownCountryCode = "unknown_country_code"
    case tooShort = "too_short"
    case tooLong = "too_long"
    case notInPlan = "not_in_plan"

    /// The sentence for the caller. It explains the fix, and no part of the number is in it.
    package var sentence: String {
        switch self {
        case .tooManyCharacters:
            "A telephone number has at most \(PhoneNumberReader.characterLimit) characters here, punctuation included."
        case .regionUnknown:
            "The region of a telephone number is a code in capitals that has a numbering plan: "
                + "of ISO 3166-1 alpha-2, or XK, AC or TA."
        case .regionNeeded:
            "A number in national form needs the region that it is dialled in; or write it with + and country code."
        case .letters: "Write the telephone number in digits. Letters are not accepted."
        case .extension: "A code cannot be texted to an extension: write the telephone number without one."
        case .notANumber: "This is not a telephone number: digits, perhaps with + before and punctuation between."
        case .unknownCountryCode: "The telephone number begins with a country calling code that is not in use."
        case .tooShort: "The telephone number has too few digits for its numbering plan."
        case .tooLong: "The telephone number has too many digits for its numbering plan."
        case .notInPlan: "The numbering plan of its country has no such telephone number: look for a mistyped digit."
        }
    }
}
