/// One check of an identity card and its result, as the holder of the card sees it.
package struct CardCheck: Sendable, Equatable {
    package let name: Name
    package let result: Result
    /// One sentence without data of the card, so it may be stored and shown with the result.
    package let detail: String
}

package extension CardCheck {
    init(_ name: Name, _ result: Result, _ detail: String) {
        self.name = name
        self.result = result
        self.detail = detail
    }

    /// The checks, in the order in which they are reported.
    enum Name: String, Sendable, CaseIterable {
        /// The last day of validity has not passed.
        case unexpired
        /// Born before issued before expired, and not issued in the future. The day of issue may be missing.
        case dateOrder = "date_order"
        /// At least as old as the policy requires.
        case minimumAge = "minimum_age"
        /// The issuer number is known, and the country does not contradict it.
        case issuer
        /// Number, birthday, expiry and a name are present.
        case mandatoryElements = "mandatory_elements"
        /// The document number is present and plausible.
        case documentNumber = "document_number"
        /// The check digits of a machine readable zone are right.
        case checkDigits = "check_digits"
        /// The day of birth is stated in full.
        case birthday
        /// The number has a format that the jurisdiction issues.
        case numberFormat = "number_format"
        /// The number is the one that the jurisdiction derives from name and birthday, if its rule is public.
        case numberRule = "number_rule"
        /// The postal code lies in the jurisdiction.
        case postalCode = "postal_code"
        /// The address lies in the jurisdiction that issued the card.
        case addressJurisdiction = "address_jurisdiction"
        /// The name matches the user's name at the provider.
        case name
        /// The name shares a word with the user's name at the provider.
        case otherName = "other_name"
        /// The address is a place where someone can live.
        case poBox = "po_box"
        /// The text follows the standard.
        case conformance
        /// The card's data are possible and do not contradict each other.
        case contradiction
        /// The holder is not a person on a published specimen.
        case specimen
        /// The issuer's signature in the barcode, if its key is pinned, was made for this card.
        case issuerSignature = "issuer_signature"
        /// The issuer confirms the data, if it can be queried.
        case issuerConfirmation = "issuer_confirmation"
        /// The issuer's list says that the credential in a wallet is valid. It is checked only if the list has no answer.
        case credentialStatus = "credential_status"
        /// No other user of the provider has shown the document, or a card of the same person.
        case uniqueness
        /// The card is of the same person as the card that verified the user before.
        case samePerson = "same_person"
    }

    /// The result of a check.
    enum Result: String, Sendable, CaseIterable {
        case passed
        case failed
        /// The card or the request has nothing to check.
        case notApplicable = "not_applicable"
    }
}

package extension CardCheck.Name {
    /// The checks that need only the card and the policy: all but those of the issuer and of other cards.
    static let ofTheCard = allCases.filter {
        $0 != .issuerConfirmation && $0 != .uniqueness && !alwaysReviewed.contains($0)
    }

    /// The checks whose failure sends a card to review under every policy.
    static let alwaysReviewed: Set = [credentialStatus, samePerson]

    /// The checks for which the policy decides whether a failure sends a card to review.
    static let reviewable = allCases.filter { !$0.isHard && !alwaysReviewed.contains($0) }

    /// Whether a failure rejects the card; a failure of any other check is only reported or sent to review.
    var isHard: Bool {
        switch self {
        case .unexpired, .dateOrder, .minimumAge, .issuer, .mandatoryElements, .documentNumber, .checkDigits: true
        case .birthday, .numberFormat, .numberRule, .postalCode, .addressJurisdiction, .name, .otherName, .poBox,
            .conformance, .contradiction, .specimen, .issuerSignature, .issuerConfirmation, .credentialStatus,
            .uniqueness, .samePerson:
            false
        }
    }
}
