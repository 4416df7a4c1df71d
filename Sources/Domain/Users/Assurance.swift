import Foundation

/// How far a user's identity is proved. Ordered: a later level includes what the earlier ones proved.
package enum Assurance: String, Sendable, CaseIterable, Codable, Comparable {
    /// Nothing but the provider's statement identifies the user.
    case none
    /// The user entered a code sent to a phone number.
    case phone
    /// The user showed a card's barcode: self-asserted, because a barcode proves nothing about its issuer.
    case barcode
    /// The card's issuer signed the data in the barcode. A copy of the barcode has the signature too.
    case issuerSigned = "issuer_signed"
    /// The card's issuer confirmed the data.
    case issuerChecked = "issuer_checked"
    /// A credential in a wallet: its issuer signed it, and the device to which it was issued presented it.
    case credential
}

package extension Assurance {
    /// A user's assurance level was set: it rose, fell, or got another date of expiry.
    struct Change: Sendable, Equatable {
        package let userID: UserID
        package let providerID: ProviderID
        package let from: Assurance
        package let to: Assurance

        package init(userID: UserID, providerID: ProviderID, from: Assurance, to: Assurance) {
            self.userID = userID
            self.providerID = providerID
            self.from = from
            self.to = to
        }
    }

    private var rank: Int {
        switch self {
        case .none: 0
        case .phone: 1
        case .barcode: 2
        case .issuerSigned: 3
        case .issuerChecked: 4
        case .credential: 5
        }
    }

    /// Compares what the levels prove.
    static func < (left: Assurance, right: Assurance) -> Bool {
        left.rank < right.rank
    }
}

/// A user's stored level, and when it drops.
package struct AssuranceLevel: Sendable, Equatable {
    private let stored: Assurance
    /// When a level above ``Assurance/phone`` expires, because its card does; `nil` if it does not.
    private let until: Date?
    /// Whether the user's wallet proved an age. Only the store knows which one.
    package let hasAgeProof: Bool
}

package extension AssuranceLevel {
    init(_ stored: Assurance, until: Date?, hasAgeProof: Bool = false) {
        self.stored = stored
        self.until = until
        self.hasAgeProof = hasAgeProof
    }

    /// This level, of a user whose wallet proved an age.
    var withAgeProof: AssuranceLevel { AssuranceLevel(stored, until: until, hasAgeProof: true) }

    /// The level at a point in time.
    func value(at moment: Date) -> Assurance {
        until.map { $0 <= moment } ?? false ? min(stored, .phone) : stored
    }
}
