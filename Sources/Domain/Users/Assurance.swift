/// How far a user's identity is proved. Ordered: a later level includes what the earlier ones proved.
package enum Assurance: String, Sendable, CaseIterable, Codable, Comparable {
    /// Only the provider vouches for the user.
    case none
    /// The user entered a code sent to a phone number.
    case phone
    /// The user showed a card's barcode: self-asserted, because a barcode proves nothing about its issuer.
    case barcode
    /// The card's issuer signed the data in the barcode. A copy of the barcode has the signature too.
    case issuerSigned = "issuer_signed"
    /// The card's issuer confirmed the data.
    case issuerChecked = "issuer_checked"
    /// An ISO/IEC 18013-5 mobile document signed by its issuer.
    case mdoc

    /// The levels that a user can reach. Mobile documents are not supported yet.
    package static let reachable = allCases.filter { $0 != .mdoc }

    private var rank: Int {
        switch self {
        case .none: 0
        case .phone: 1
        case .barcode: 2
        case .issuerSigned: 3
        case .issuerChecked: 4
        case .mdoc: 5
        }
    }

    /// Orders levels by what was proved.
    package static func < (left: Assurance, right: Assurance) -> Bool {
        left.rank < right.rank
    }
}
