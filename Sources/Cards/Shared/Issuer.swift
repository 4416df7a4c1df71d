/// The issuer of AAMVA cards with an issuer identification number.
package struct Issuer: Sendable, Equatable {
    /// `USA`, `CAN` or `MEX`.
    package let country: String
    /// The state, territory or province; `nil` if a federal department issues.
    package let jurisdiction: Jurisdiction?

    /// The issuer with a number; `nil` if the number is not assigned.
    package static func of(number: Int) -> Issuer? {
        // The driving licences that the US Department of State issues to diplomats.
        if number == 636_027 { return Issuer(country: "USA", jurisdiction: nil) }
        return Jurisdiction.of(issuerNumber: number).map { Issuer(country: $0.country, jurisdiction: $0) }
    }
}
