/// The three sizes of travel documents, with the positions of their fields in the lines of the machine readable zone.
/// The lines are concatenated (ICAO 9303 parts 5, 6 and 4).
package enum MachineReadableFormat: String, Sendable, CaseIterable {
    /// Three lines of 30: identity cards, passport cards.
    case td1 = "TD1"
    /// Two lines of 36: larger identity cards.
    case td2 = "TD2"
    /// Two lines of 44: passports.
    case td3 = "TD3"

    var lineCount: Int { self == .td1 ? 3 : 2 }

    var lineLength: Int {
        switch self {
        case .td1: 30
        case .td2: 36
        case .td3: 44
        }
    }

    var length: Int { lineCount * lineLength }

    /// The position of the document code, in all formats.
    var documentCode: Range<Int> { 0..<2 }
    /// The position of the issuing state, in all formats.
    var issuingState: Range<Int> { 2..<5 }

    var name: Range<Int> {
        switch self {
        case .td1: 60..<90
        case .td2: 5..<36
        case .td3: 5..<44
        }
    }

    /// The position of the document number: nine characters, before their check digit.
    var documentNumber: Range<Int> {
        switch self {
        case .td1: 5..<14
        case .td2: 36..<45
        case .td3: 44..<53
        }
    }

    /// The position of the birthday: six digits, before their check digit.
    var birth: Range<Int> {
        switch self {
        case .td1: 30..<36
        case .td2: 49..<55
        case .td3: 57..<63
        }
    }

    var sex: Int { birth.upperBound + 1 }

    /// The position of the expiry: six digits, before their check digit.
    var expiry: Range<Int> { birth.upperBound + 2..<birth.upperBound + 8 }

    var nationality: Range<Int> {
        switch self {
        case .td1: 45..<48
        case .td2: 46..<49
        case .td3: 54..<57
        }
    }

    /// The optional data. A long number continues in it on TD1 and TD2; on TD3 a check digit follows.
    var optionalData: Range<Int> {
        switch self {
        case .td1: 15..<30
        case .td2: 64..<71
        case .td3: 72..<86
        }
    }

    /// The second optional data of TD1.
    var furtherOptionalData: Range<Int>? { self == .td1 ? 48..<59 : nil }

    /// The ranges that the composite check digit covers.
    var composite: [Range<Int>] {
        switch self {
        case .td1: [5..<30, 30..<37, 38..<45, 48..<59]
        case .td2: [36..<46, 49..<56, 57..<71]
        case .td3: [44..<54, 57..<64, 65..<87]
        }
    }

    /// The position of the composite check digit.
    var compositeDigit: Int { self == .td1 ? 59 : length - 1 }
}
