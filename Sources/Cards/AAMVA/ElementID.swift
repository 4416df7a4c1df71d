import Domain

/// The three-character id of a data element of an AAMVA card, such as `DAQ`: capital letters, digits at the end.
struct ElementID: Hashable, Sendable {
    private let code: UInt32

    init(_ first: UInt8, _ second: UInt8, _ third: UInt8) {
        code = UInt32(first) << 16 | UInt32(second) << 8 | UInt32(third)
    }

    init(_ name: StaticString) {
        code = name.withUTF8Buffer { $0.reduce(0) { $0 << 8 | UInt32($1) } }
    }

    var text: String {
        String(decoding: [UInt8(code >> 16 & 255), UInt8(code >> 8 & 255), UInt8(code & 255)], as: UTF8.self)
    }

    /// Whether a jurisdiction defined it.
    var isJurisdictionSpecific: Bool { code >> 16 == UInt32(UInt8(ascii: "Z")) }

    /// The property that the element is read as, if there is one.
    var property: CardProperty? { Self.properties[self] }

    /// Whether it identifies the holder or the document. A card has one value of it.
    var saysWho: Bool {
        switch property {
        case .name, .familyName, .givenName, .middleName, .dateOfBirth, .expiresOn, .issuedOn, .sex, .documentNumber:
            true
        default: false
        }
    }

    private static let properties: [ElementID: CardProperty] = [
        ElementID("DAA"): .name, ElementID("DCS"): .familyName, ElementID("DAB"): .familyName,
        ElementID("DAC"): .givenName, ElementID("DCT"): .givenName, ElementID("DAD"): .middleName,
        ElementID("DCU"): .nameSuffix, ElementID("DAE"): .nameSuffix, ElementID("DDE"): .familyTruncation,
        ElementID("DDF"): .givenTruncation, ElementID("DDG"): .middleTruncation, ElementID("DBB"): .dateOfBirth,
        ElementID("DBD"): .issuedOn, ElementID("DBA"): .expiresOn, ElementID("DBC"): .sex, ElementID("DAG"): .street,
        ElementID("DAH"): .street, ElementID("DAI"): .city, ElementID("DAJ"): .addressJurisdiction,
        ElementID("DAK"): .postalCode, ElementID("DAL"): .street, ElementID("DAM"): .street, ElementID("DAN"): .city,
        ElementID("DAO"): .addressJurisdiction, ElementID("DAP"): .postalCode, ElementID("DCG"): .country,
        ElementID("DAQ"): .documentNumber, ElementID("DBJ"): .documentNumber,
        ElementID("DCF"): .documentDiscriminator, ElementID("DDA"): .compliance, ElementID("DDD"): .limitedDuration,
    ]
}

/// The two-character type of a subfile: `DL`, `ID`, `EN`, or `Z` and a letter that the jurisdiction chooses.
struct SubfileType: Hashable, Sendable {
    private let first: UInt8
    private let second: UInt8

    init(_ first: UInt8, _ second: UInt8) {
        self.first = first
        self.second = second
    }

    static let drivingLicence = SubfileType(UInt8(ascii: "D"), UInt8(ascii: "L"))
    static let identification = SubfileType(UInt8(ascii: "I"), UInt8(ascii: "D"))
    static let enhanced = SubfileType(UInt8(ascii: "E"), UInt8(ascii: "N"))

    /// Whether it contains standard elements.
    var isPrimary: Bool { self == .drivingLicence || self == .identification || self == .enhanced }

    /// Whether it contains a jurisdiction's own elements.
    var isJurisdictionSpecific: Bool { first == UInt8(ascii: "Z") && second.isCapital }

    var text: String { String(decoding: [first, second], as: UTF8.self) }
}

extension UInt8 {
    var isCapital: Bool { self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") }
    var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
    /// The capital of an ASCII letter; any other byte unchanged.
    var capitalised: UInt8 { self >= UInt8(ascii: "a") && self <= UInt8(ascii: "z") ? self - 32 : self }
}
