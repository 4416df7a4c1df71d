/// A state, district, territory or province that issues AAMVA cards.
package struct Jurisdiction: Sendable, Equatable {
    /// Its two letters: ISO 3166-2 without the country in the US and Canada, AAMVA's in Mexico.
    package let code: String
    /// Its issuer identification number, six digits.
    package let issuerNumber: Int
    /// The country's code: `USA`, `CAN` or `MEX`.
    package let country: String
    /// The postal codes in it.
    package let postalArea: PostalArea
    /// The formats of its document numbers; `nil` if none are known.
    package let numberFormat: NumberFormat?

    init(_ code: String, _ issuerNumber: Int, _ country: String, postal: String, numbers: String) {
        self.code = code
        self.issuerNumber = issuerNumber
        self.country = country
        postalArea = PostalArea(postal)
        numberFormat = numbers.isEmpty ? nil : NumberFormat(numbers)
    }
}

package extension Jurisdiction {
    /// The jurisdiction with an issuer identification number; `nil` if there is none.
    static func of(issuerNumber: Int) -> Jurisdiction? { byIssuerNumber[issuerNumber] }

    /// The jurisdiction with a two-letter code; `nil` if there is none.
    static func of(code: String) -> Jurisdiction? { byCode[code] }

    private static let byIssuerNumber = Dictionary(all.map { ($0.issuerNumber, $0) }) { first, _ in first }
    private static let byCode = Dictionary(all.map { ($0.code, $0) }) { first, _ in first }
}
