/// One check of an identity card and what came of it, as the holder of the card is told.
package struct CardCheck: Sendable, Equatable {
    package let name: Name
    package let result: Result
    /// One sentence; it holds no datum of the card, so that it may be kept and shown beside it.
    package let detail: String

    package init(_ name: Name, _ result: Result, _ detail: String) {
        self.name = name
        self.result = result
        self.detail = detail
    }

    /// The checks, in the order in which they are reported.
    package enum Name: String, Sendable, CaseIterable {
        /// The last day of validity has not passed.
        case unexpired
        /// Born before issued before expired, and not issued in the future; a day of issue may be missing.
        case dateOrder = "date_order"
        /// At least as old as the policy demands.
        case minimumAge = "minimum_age"
        /// The issuer number is known, and the country does not contradict it.
        case issuer
        /// Number, birthday, expiry and a name are there.
        case mandatoryElements = "mandatory_elements"
        /// The document number is one.
        case documentNumber = "document_number"
        /// The check digits of a machine readable zone fit.
        case checkDigits = "check_digits"
        /// The number has a form that the jurisdiction gives out.
        case numberFormat = "number_format"
        /// The postal code lies in the jurisdiction.
        case postalCode = "postal_code"
        /// The address lies in the jurisdiction that issued the card.
        case addressJurisdiction = "address_jurisdiction"
        /// The name is the one under which the provider knows the user.
        case name
        /// The address is where someone can live.
        case poBox = "po_box"
        /// The text is written as the standard says.
        case conformance
        /// The issuer, if it can be asked, says the same.
        case issuerConfirmation = "issuer_confirmation"
        /// Nobody else at the provider showed the document, or a card of the person.
        case uniqueness
        /// The card is of the person whose card the user was verified by before.
        case samePerson = "same_person"

        /// Those that the card and the policy decide alone: all but what the issuer and other cards say.
        package static let ofTheCard = allCases.filter {
            $0 != .issuerConfirmation && $0 != .uniqueness && $0 != .samePerson
        }

        /// Those of which policy says whether their failure sends a card to review. Another person's card goes there by
        /// any policy.
        package static let reviewable = allCases.filter { !$0.isHard && $0 != .samePerson }

        /// Whether a card that fails is rejected; a failure of any other check is only reported or sent to review.
        package var isHard: Bool {
            switch self {
            case .unexpired, .dateOrder, .minimumAge, .issuer, .mandatoryElements, .documentNumber, .checkDigits: true
            case .numberFormat, .postalCode, .addressJurisdiction, .name, .poBox, .conformance, .issuerConfirmation,
                .uniqueness, .samePerson:
                false
            }
        }
    }

    /// What came of a check.
    package enum Result: String, Sendable, CaseIterable {
        case passed
        case failed
        /// The card or the request holds nothing to check.
        case notApplicable = "not_applicable"
    }
}
