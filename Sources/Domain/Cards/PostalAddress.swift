/// Where a card's holder lives, in the card's own words.
package struct PostalAddress: Sendable, Equatable, Confidential {
    /// Street and house number; a second line follows after a comma.
    package var street: String?
    package var city: String?
    /// State, territory or province, two letters (ISO 3166-2 without the country).
    package var jurisdiction: String?
    /// The postal code: `23269` or `23269-1234` in the US, `K1A 0B1` in Canada.
    package var postalCode: String?
    /// The country's ISO 3166-1 alpha-3 code.
    package var country: String?

    package init(
        street: String? = nil, city: String? = nil, jurisdiction: String? = nil, postalCode: String? = nil,
        country: String? = nil
    ) {
        self.street = street
        self.city = city
        self.jurisdiction = jurisdiction
        self.postalCode = postalCode
        self.country = country
    }

    /// One line: street, city, jurisdiction with postal code, country. Missing parts are left out.
    package var line: String {
        let region = [jurisdiction, postalCode].compactMap { $0 }.joined(separator: " ")
        return [street, city, region.isEmpty ? nil : region, country].compactMap { $0 }.joined(separator: ", ")
    }
}
