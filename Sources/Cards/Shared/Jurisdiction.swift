/// A state, district, territory or province that issues AAMVA cards.
package struct Jurisdiction: Sendable, Equatable {
    /// Its two letters: ISO 3166-2 without the country in the US and Canada, AAMVA's in Mexico.
    package let code: String
    /// Its issuer identification number, six digits.
    package let issuerNumber: Int
    /// The country's code: `USA`, `CAN` or `MEX`.
    package let country: String
    /// The postal codes in it.
    let postalArea: PostalArea
    /// The formats of its document numbers; `nil` if none are known.
    let numberFormat: NumberFormat?

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

    /// The longest form of a document number, for an invented card: `L` for a letter, `D` for a digit, `X` for either.
    /// Empty if no format is known.
    var numberForm: String {
        String(
            (numberFormat?.alternatives.first ?? []).flatMap { run in
                let place: Character =
                    switch run.characters {
                    case .letter: "L"
                    case .digit: "D"
                    case .either: "X"
                    }
                return Array(repeating: place, count: run.count.upperBound)
            })
    }

    /// How a postal code in it begins: three digits, or a letter in Canada.
    var postalStart: String {
        if let letter = postalArea.letters.first { return String(Unicode.Scalar(letter)) }
        return String(String(1000 + (postalArea.prefixes.first?.lowerBound ?? 0)).dropFirst())
    }

    private static let byIssuerNumber = Dictionary(all.map { ($0.issuerNumber, $0) }) { first, _ in first }
    private static let byCode = Dictionary(all.map { ($0.code, $0) }) { first, _ in first }
}
