/// The issuer of AAMVA cards with an issuer identification number.
struct Issuer: Sendable, Equatable {
    /// The country's code: `USA`, `CAN` or `MEX`.
    let country: String
    /// The state, territory or province; `nil` if the issuer is a federal department.
    let jurisdiction: Jurisdiction?

    /// The issuer with a number; `nil` if the number is not assigned.
    static func of(number: Int) -> Issuer? {
        // The driving licences that the US Department of State issues to diplomats.
        if number == 636_027 { return Issuer(country: "USA", jurisdiction: nil) }
        return Jurisdiction.of(issuerNumber: number).map { Issuer(country: $0.country, jurisdiction: $0) }
    }
}
