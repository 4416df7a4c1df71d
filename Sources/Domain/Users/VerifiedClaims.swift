import Encoding
import Foundation

/// What a card or a wallet proved about a user, for the user's provider (OpenID Connect for Identity Assurance 1.0 §5): whether the
/// user has reached certain ages, and how that was proved. It never contains a name, a number or an address.
package struct VerifiedClaims: Sendable, Equatable {
    private let assurance: Assurance
    private let card: Card?
    private let ages: ProvenAges?

    /// The proof by a card.
    private struct Card: Equatable {
        let verifiedAt: Date
        let age: Int
    }
}

package extension VerifiedClaims {
    /// `nil` without a verified card, also after its level has expired, unless a wallet proved an age.
    init?(_ user: AuthenticatedUser?, ages: ProvenAges?, assurance: Assurance, on day: CalendarDate) {
        if assurance >= .barcode, let verifiedAt = user?.identityVerifiedAt, let age = user?.age(on: day) {
            card = Card(verifiedAt: verifiedAt, age: age)
        } else {
            card = nil
        }
        guard card != nil || ages != nil else { return nil }
        self.assurance = assurance
        self.ages = ages
    }

    var json: JSONValue {
        .object([
            "verification": .object([
                "trust_framework": .string("countersign"), "assurance_level": .string(assurance.rawValue),
                "time": .string(time.rfc3339), "evidence": .array(evidence.map { .object(["type": .string($0)]) }),
            ]),
            "claims": .object(["age_over_18": isOver(18), "age_over_21": isOver(21)]),
        ])
    }

    /// The later one of the proofs.
    private var time: Date {
        [card?.verifiedAt, ages?.provenAt].compactMap(\.self).max() ?? .distantPast
    }

    /// The types of OpenID Connect for Identity Assurance. A wallet presents electronic records.
    private var evidence: [String] {
        let ofCard = card.map { _ in assurance == .credential ? "electronic_record" : "document" }
        return [ofCard, ages.flatMap { _ in ofCard == "electronic_record" ? nil : "electronic_record" }]
            .compactMap(\.self)
    }

    /// A wallet proves only that the user has reached an age. Without a card nothing says the opposite.
    private func isOver(_ years: Int) -> JSONValue? {
        if ages?.proof.proves(years) == true { return .bool(true) }
        return card.map { .bool($0.age >= years) }
    }
}
