import Domain

/// One check of a card: its name, and the function that evaluates it and explains the result in one sentence.
/// Sentences contain no data of the card.
///
/// A rule that depends on the format of the card switches over ``ScannedCard``, so a new format does not compile
/// until each rule handles it.
struct CardRule: Sendable {
    /// A card and the other inputs of its evaluation.
    struct Input: Sendable {
        let card: ScannedCard
        /// The day of the evaluation in UTC.
        let today: CalendarDate
        /// The day in the last time zone. A card is valid until its last day has ended there.
        let earliestDay: CalendarDate
        let policy: CardPolicy
        let displayName: String?
        let signature: IssuerSignature.State

        var identityCard: IdentityCard { card.identityCard }
    }

    /// The result of a check, and its sentence.
    typealias Outcome = (result: CardCheck.Result, detail: String)

    let name: CardCheck.Name
    let evaluate: @Sendable (Input) -> Outcome

    func check(_ input: Input) -> CardCheck {
        let outcome = evaluate(input)
        return CardCheck(name, outcome.result, outcome.detail)
    }

    /// All rules, in the order in which they are reported.
    static let all: [CardRule] = [
        unexpired, dateOrder, minimumAge, issuer, mandatoryElements, documentNumber, checkDigits, birthday,
        numberFormat,
        numberRule, postalCode, addressJurisdiction, displayName, otherName, postOfficeBox, conformance, contradiction,
        specimen, issuerSignature,
    ]

    static let unexpired = CardRule(name: .unexpired) { input in
        guard let expiry = input.identityCard.expiresOn else { return (.failed, "The card states no day of expiry.") }
        return expiry >= input.earliestDay
            ? (.passed, "The card is valid today.") : (.failed, "The card's last day of validity has passed.")
    }

    /// The day of issue may be tomorrow: the service uses UTC, and east of it a day begins earlier.
    static let dateOrder = CardRule(name: .dateOrder) { input in
        let card = input.identityCard
        guard let birth = card.dateOfBirth, let expiry = card.expiresOn else {
            return (.failed, "The card lacks a day of birth or expiry, so their order cannot be checked.")
        }
        guard birth < expiry, birth <= input.today else {
            return (.failed, "The holder is born after today or after the card's expiry.")
        }
        guard let issue = card.issuedOn else { return (.passed, "Birth comes before expiry.") }
        guard birth < issue, issue < expiry else {
            return (.failed, "Birth, issue and expiry do not follow each other.")
        }
        return issue <= input.today.next
            ? (.passed, "Birth, issue and expiry follow each other.")
            : (.failed, "The day of issue lies in the future.")
    }

    static let minimumAge = CardRule(name: .minimumAge) { input in
        guard let age = input.identityCard.age(on: input.today) else {
            return (.failed, "The card states no day of birth.")
        }
        let least = input.policy.minimumAge
        return age >= least
            ? (.passed, "The holder is at least \(least) years old.")
            : (.failed, "The holder is younger than \(least) years.")
    }

    static let issuer = CardRule(name: .issuer) { input in
        let number: Int?
        switch input.card {
        case .aamva(let card): number = card.header.issuerNumber
        case .stripe(let stripe): number = stripe.issuerNumber
        case .machineReadable(let zone):
            guard let state = zone.identityCard.country else { return (.failed, "The zone states no issuing state.") }
            let states = [state, zone.identityCard.nationality].compactMap(\.self)
            return states.allSatisfy(IssuingState.isKnown)
                ? (.passed, "Issuing state and nationality have codes of ICAO.")
                : (.failed, "The issuing state or the nationality has a code that ICAO does not list.")
        case .presented(let card):
            return card.country == nil
                ? (.failed, "The certificate of the credential's issuer names no country.")
                : (.passed, "A trusted issuer of this country signed the credential.")
        }
        guard let issuer = number.flatMap({ Issuer.of(number: $0) }) else {
            return (.failed, "The issuer number belongs to no state, territory or province.")
        }
        // The holder's place of residence is ignored: people move, and keep their card until it expires.
        if let stated = input.identityCard.address?.country, stated != issuer.country {
            return (.failed, "The issuer number and the country (DCG) name different countries.")
        }
        return (.passed, "Issuer number and country belong together.")
    }

    static let birthday = CardRule(name: .birthday) { input in
        guard input.identityCard.dateOfBirth != nil else { return (.notApplicable, "The card states no day of birth.") }
        return input.identityCard.isBirthdayInFull
            ? (.passed, "The day of birth is stated in full.")
            : (.failed, "The day or month of birth is unknown. The age is computed from the latest possible day.")
    }

    static let contradiction = CardRule(name: .contradiction) { input in
        let kinds = Contradiction.allCases.filter { $0.isIn(input) }.map(\.explanation).joined(separator: "; ")
        return kinds.isEmpty
            ? (.passed, "No two statements of the card contradict each other.")
            : (.failed, "The card contradicts itself: \(kinds).")
    }

    static let specimen = CardRule(name: .specimen) { input in
        PublishedSpecimen.isOne(input.identityCard)
            ? (.failed, "The holder is the invented person of a published specimen.")
            : (.passed, "No published specimen shows this holder.")
    }

    static let issuerSignature = CardRule(name: .issuerSignature) { input in
        switch input.signature {
        case .none: (.notApplicable, "The card carries no signature of its issuer.")
        case .present: (.notApplicable, "The card carries a signature that cannot be verified here.")
        case .unreadable: (.notApplicable, "The card's signature is damaged. Scan the card again.")
        case .verified: (.passed, "The card's issuer signed the name, number, birthday and expiry.")
        case .invalid: (.failed, "The card's signature is not one that its issuer made for this card.")
        }
    }

    static let mandatoryElements = CardRule(name: .mandatoryElements) { input in
        let missing = input.card.missing
        let names = missing.joined(separator: ", ")
        return missing.isEmpty
            ? (.passed, "Number, birthday, expiry and a name are there.")
            : (.failed, "Required fields are missing or empty: \(names).")
    }

    static let checkDigits = CardRule(name: .checkDigits) { input in
        switch input.card {
        case .aamva, .stripe: return (.notApplicable, "A barcode has no check digits.")
        case .presented: return (.notApplicable, "A credential has no check digits.")
        case .machineReadable(let zone):
            let wrong = zone.checkDigits.filter { !$0.fits }.map(\.field.rawValue)
            let fields = wrong.joined(separator: ", ")
            return wrong.isEmpty
                ? (.passed, "All check digits fit.") : (.failed, "Check digits do not fit: \(fields).")
        }
    }
}
