/// The data of an identity card, read from any of its forms. None of it is proved: anyone can write a barcode or a
/// machine readable zone. ``Assurance`` says how far a card proves an identity.
package struct IdentityCard: Sendable, Equatable, Confidential {
    /// The form that it was read from.
    let source: Source
    /// What kind of document it is.
    package let kind: Kind
    package var name = PersonName()
    /// The holder's birthday; `nil` if the card states no valid date.
    package var dateOfBirth: CalendarDate?
    /// Whether the card states the day of birth in full. If not, ``dateOfBirth`` is the latest day that it can be.
    package var isBirthdayInFull = true
    /// The day of issue; a machine readable zone has none.
    package var issuedOn: CalendarDate?
    /// The last day of validity.
    package var expiresOn: CalendarDate?
    /// The holder's sex as stated.
    package var sex: Sex?
    /// Where the holder lives; a machine readable zone has none.
    package var address: PostalAddress?
    /// The document number as written, 25 characters at most by the AAMVA standard; empty if there is none.
    package var documentNumber = ""
    /// The issuing state, territory or province, two letters; `nil` if a country issues.
    package var jurisdiction: String?
    /// The issuing country, ISO 3166-1 alpha-3 or a code of ICAO 9303-3 §5.
    package var country: String?
    /// The holder's nationality; only a machine readable zone states it.
    package var nationality: String?
    /// What distinguishes this copy of the card from earlier ones of the same number (element DCF).
    package var documentDiscriminator: String?
    /// Whether the card complies with the REAL ID act (element DDA).
    package var compliance: Compliance?
    /// Whether the holder's stay is limited in time (element DDD).
    package var isLimitedDuration: Bool?
    /// The issuer's signature, if the barcode carries one. Reading does not verify it.
    package var issuerSignature = IssuerSignature(.none)
    /// Everything that was read, in the card's order, including elements without a property here.
    package var fields: [CardField] = []
}

package extension IdentityCard {
    /// Without data; the reader sets the properties.
    init(source: Source, kind: Kind) {
        self.source = source
        self.kind = kind
    }

    /// The form that a card was read from.
    enum Source: String, Sendable, CaseIterable {
        /// The PDF417 barcode of North American cards, also one that contains magnetic stripe tracks.
        case aamva
        /// The machine readable zone of ICAO 9303.
        case mrz
        /// A mobile document of ISO/IEC 18013-5, which a wallet presented.
        case mobileDocument = "mdoc"
        /// An SD-JWT VC, which a wallet presented.
        case selectiveDisclosure = "sd_jwt"
    }

    enum Kind: String, Sendable, CaseIterable {
        case licence
        /// An identity card that is not a driving licence.
        case identification = "id"
        case passport
    }

    /// Sex as cards state it.
    enum Sex: String, Sendable {
        case female, male, unspecified
    }

    /// Compliance with the REAL ID act.
    enum Compliance: String, Sendable {
        case full = "F"
        case none = "N"
        /// Materially compliant, as cards of the years 2009 to 2012 say.
        case material = "M"
    }

    /// The number reduced to capital letters, digits and the asterisk of Washington's older numbers. Two spellings of
    /// one number are equal in this form.
    var normalisedNumber: String {
        String(
            decoding: documentNumber.utf8.compactMap { byte -> UInt8? in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "*"):
                    byte
                case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - 32
                default: nil
                }
            }, as: UTF8.self)
    }

    /// The part of the number that may be shown: the last four characters, but never more than half.
    var lastFour: String {
        let number = normalisedNumber
        return String(number.suffix(min(4, (number.utf8.count + 1) / 2)))
    }

    /// The holder's age in whole years on a day; `nil` if the card states no birthday.
    func age(on day: CalendarDate) -> Int? {
        dateOfBirth?.age(on: day)
    }

    /// The fields that a property was read from, in the card's order.
    func provenance(of property: CardProperty) -> [CardField] {
        fields.filter { $0.property == property }
    }
}
