import Domain

extension Assurance {
    /// How the user's identity was proved, and what that is worth.
    var explanation: String {
        switch self {
        case .none: "Only the provider's statement identifies the user."
        case .phone: "The user entered a code that was sent to a telephone number."
        case .barcode: "The user showed the barcode of a card. Anyone can make such a barcode."
        case .issuerSigned:
            "The issuer of the card signed the data in its barcode. A copy of the barcode has the signature too."
        case .issuerChecked: "The issuer of the card confirmed its data."
        case .credential: "A wallet presented a credential that its issuer signed for the wallet's device."
        }
    }
}

extension AuthenticatedUser.Suspension {
    var explanation: String {
        switch self {
        case .phoneReassigned:
            "Another user of the provider has verified the number since. It no longer proves this user's identity."
        }
    }
}

extension CardStatus {
    /// A sentence about some cards with this status.
    func explanation(_ count: Int) -> Markup {
        let cards = Markup.count(count, "card")
        return switch self {
        case .verified: "\(cards) verified."
        case .inReview: "\(cards) in review: the level rises if a reviewer approves."
        case .rejected: "\(cards) rejected."
        }
    }
}
