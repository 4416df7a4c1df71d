/// How the text of a card departs from the AAMVA standard. Most genuine cards do, so a departure is only reported.
struct AAMVAConformance: Sendable, Equatable {
    /// The departures in the order of discovery, each kind once for an element.
    private(set) var departures: [Departure] = []

    /// One departure; it names elements, never values.
    struct Departure: Sendable, Hashable {
        let kind: Kind
        /// The data element or subfile; `nil` for the text as a whole.
        let element: String?
    }

    mutating func note(_ kind: Kind, _ element: String? = nil) {
        let departure = Departure(kind: kind, element: element)
        if !departures.contains(departure) { departures.append(departure) }
    }
}

extension AAMVAConformance {
    var isConformant: Bool { departures.isEmpty }

    /// The kinds of departure, each once.
    var kinds: Set<Kind> { Set(departures.map(\.kind)) }

    enum Kind: String, Sendable, CaseIterable {
        case byteOrderMark = "byte_order_mark"
        case complianceIndicator = "compliance_indicator"
        case fileType = "file_type"
        case issuerNumber = "issuer_number"
        case versionNumber = "version_number"
        case jurisdictionVersion = "jurisdiction_version"
        case entryCount = "entry_count"
        case subfileDesignator = "subfile_designator"
        case subfileOffset = "subfile_offset"
        case subfileLength = "subfile_length"
        case subfileType = "subfile_type"
        case barSeparator = "bar_separator"
        case carriageReturnSeparator = "carriage_return_separator"
        case otherSeparator = "other_separator"
        case strayText = "stray_text"
        case duplicateElement = "duplicate_element"
        case trailingComma = "trailing_comma"
        case scannerNoise = "scanner_noise"
        case characterSet = "character_set"
        case dateOrder = "date_order"
        case dateZeros = "date_zeros"
        case dateUnreadable = "date_unreadable"
        case nameElements = "name_elements"
        case nameSeparator = "name_separator"
        case countryCode = "country_code"
        case jurisdictionCode = "jurisdiction_code"
        case postalCode = "postal_code"
        case missingElement = "missing_element"

        /// A short explanation for a developer.
        var explanation: String {
            switch self {
            case .byteOrderMark: "a byte order mark precedes the text"
            case .complianceIndicator: "the text does not begin with @, line feed, record separator, carriage return"
            case .fileType: "the file type is not ANSI and a space"
            case .issuerNumber: "the issuer number has no six digits or is not registered"
            case .versionNumber: "the version number is missing or unknown"
            case .jurisdictionVersion: "the jurisdiction version is missing, or present in version 01, which has none"
            case .entryCount: "the number of entries is missing or is not that of the subfile designators"
            case .subfileDesignator: "a subfile designator lacks its offset or length"
            case .subfileOffset: "a subfile does not begin at its offset"
            case .subfileLength: "a subfile does not end after its length"
            case .subfileType: "no subfile DL, ID or EN is announced, or one does not begin with its type"
            case .barSeparator: "a vertical bar separates elements"
            case .carriageReturnSeparator: "a carriage return separates elements instead of a line feed"
            case .otherSeparator: "a control character other than line feed separates elements"
            case .strayText: "there is text outside of any element"
            case .duplicateElement: "an element occurs twice with different values"
            case .trailingComma: "a value ends with a comma"
            case .scannerNoise: "controls, no-break spaces or soft hyphens surround elements"
            case .characterSet: "a value holds UTF-8 or control characters"
            case .dateOrder: "a date's parts are not in the order of the country and version"
            case .dateZeros: "a date has no eight digits"
            case .dateUnreadable: "a date is none"
            case .nameElements: "the name is in another version's elements"
            case .nameSeparator: "the names in one element are not separated by commas"
            case .countryCode: "the country is not written as USA, CAN or MEX"
            case .jurisdictionCode: "the jurisdiction is not written as its two letters"
            case .postalCode: "the postal code has neither the form of a ZIP code nor of a Canadian one"
            case .missingElement: "an element that the version makes mandatory is missing or empty"
            }
        }
    }
}
