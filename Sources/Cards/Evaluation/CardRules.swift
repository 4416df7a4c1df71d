import Domain

/// One check of a card as a value: its name, and a judgement that says what came of it in one sentence. Sentences hold
/// no datum of the card.
struct CardRule: Sendable {
    /// A card and all that it is judged by.
    struct Case: Sendable {
        let card: ScannedCard
        /// The day in UTC.
        let today: CalendarDate
        /// The day where it is the earliest on Earth: what ends with a day has ended when it is over there.
        let earliestDay: CalendarDate
        let policy: CardPolicy
        let displayName: String?

        var identityCard: IdentityCard { card.identityCard }
    }

    /// What came of a check, and the sentence.
    typealias Outcome = (result: CardCheck.Result, detail: String)

    let name: CardCheck.Name
    let judge: @Sendable (Case) -> Outcome

    func check(_ judged: Case) -> CardCheck {
        let outcome = judge(judged)
        return CardCheck(name, outcome.result, outcome.detail)
    }

    /// In the order in which they are reported.
    static let all: [CardRule] = [
        unexpired, dateOrder, minimumAge, issuer, mandatoryElements, documentNumber, checkDigits, numberFormat,
        postalCode, addressJurisdiction, displayName, postOfficeBox, conformance,
    ]

    static let unexpired = CardRule(name: .unexpired) { judged in
        guard let expiry = judged.identityCard.expiresOn else { return (.failed, "The card states no day of expiry.") }
        return expiry >= judged.earliestDay
            ? (.passed, "The card is valid today.") : (.failed, "The card's last day of validity has passed.")
    }

    /// The day of issue may be tomorrow: the service counts days in UTC, and east of it a day begins earlier.
    static let dateOrder = CardRule(name: .dateOrder) { judged in
        let card = judged.identityCard
        guard let birth = card.dateOfBirth, let expiry = card.expiresOn else {
            return (.failed, "The card lacks a day of birth or expiry, so that their order cannot be judged.")
        }
        guard birth < expiry, birth <= judged.today else {
            return (.failed, "The holder is born after today or after the card's expiry.")
        }
        guard let issue = card.issuedOn else { return (.passed, "Birth comes before expiry.") }
        guard birth < issue, issue < expiry else {
            return (.failed, "Birth, issue and expiry do not follow each other.")
        }
        return issue <= judged.today.next
            ? (.passed, "Birth, issue and expiry follow each other.")
            : (.failed, "The day of issue lies in the future.")
    }

    static let minimumAge = CardRule(name: .minimumAge) { judged in
        guard let age = judged.identityCard.age(on: judged.today) else {
            return (.failed, "The card states no day of birth.")
        }
        let least = judged.policy.minimumAge
        return age >= least
            ? (.passed, "The holder is at least \(least) years old.")
            : (.failed, "The holder is younger than \(least) years.")
    }

    static let issuer = CardRule(name: .issuer) { judged in
        let number: Int?
        switch judged.card {
        case .aamva(let card): number = card.header.issuerNumber
        case .stripe(let stripe): number = stripe.issuerNumber
        case .machineReadable(let zone):
            return zone.identityCard.country != nil
                ? (.notApplicable, "A machine readable zone has no issuer number.")
                : (.failed, "The zone states no issuing state.")
        }
        guard let issuer = number.flatMap({ Issuer.of(number: $0) }) else {
            return (.failed, "The issuer number belongs to no state, territory or province.")
        }
        // Where the holder lives plays no part: people move, and keep their card until it ends.
        if let stated = judged.identityCard.address?.country, stated != issuer.country {
            return (.failed, "The issuer number and the country (DCG) name different countries.")
        }
        return (.passed, "Issuer number and country belong together.")
    }

    static let mandatoryElements = CardRule(name: .mandatoryElements) { judged in
        let missing = judged.card.missing
        return missing.isEmpty
            ? (.passed, "Number, birthday, expiry and a name are there.")
            : (.failed, "What a card cannot count without is missing or empty: \(missing.joined(separator: ", ")).")
    }

    static let checkDigits = CardRule(name: .checkDigits) { judged in
        guard case .machineReadable(let zone) = judged.card else {
            return (.notApplicable, "A barcode has no check digits.")
        }
        let wrong = zone.checkDigits.filter { !$0.fits }.map(\.field.rawValue)
        return wrong.isEmpty
            ? (.passed, "All check digits fit.")
            : (.failed, "Check digits do not fit: \(wrong.joined(separator: ", ")).")
    }
}
