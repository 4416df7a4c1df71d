import Encoding
import Foundation

/// What a card proved about a user, for the user's provider (OpenID Connect for Identity Assurance 1.0 §5): whether the
/// user has reached certain ages, and how that was proved. It never contains a name, a number or an address.
package struct VerifiedClaims: Sendable, Equatable {
    private let assurance: Assurance
    private let verifiedAt: Date
    private let age: Int
}

package extension VerifiedClaims {
    /// `nil` without a verified card, also after its level has expired.
    init?(_ user: AuthenticatedUser?, assurance: Assurance, on day: CalendarDate) {
        guard assurance >= .barcode, let user, let verifiedAt = user.identityVerifiedAt, let age = user.age(on: day)
        else { return nil }
        self.assurance = assurance
        self.verifiedAt = verifiedAt
        self.age = age
    }

    var json: JSONValue {
        .object([
            "verification": .object([
                "trust_framework": .string("countersign"), "assurance_level": .string(assurance.rawValue),
                "time": .string(verifiedAt.rfc3339),
                "evidence": .array([.object(["type": .string("document")])]),
            ]),
            "claims": .object(["age_over_18": .bool(age >= 18), "age_over_21": .bool(age >= 21)]),
        ])
    }
}
