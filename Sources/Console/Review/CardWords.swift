import Domain

extension CardStatus {
    /// The status for a reader.
    var words: String {
        switch self {
        case .verified: "accepted"
        case .inReview: "in review"
        case .rejected: "rejected"
        }
    }
}

extension CardCheck.Name {
    /// The check's name for a reader.
    var words: String { rawValue.replacing("_", with: " ") }
}

extension CardCheck.Result {
    /// The result for a reader.
    var words: String {
        switch self {
        case .passed: "passed"
        case .failed: "failed"
        case .notApplicable: "nothing to check"
        }
    }
}

extension Assurance {
    /// The level for a reader.
    var words: String { rawValue.replacing("_", with: " ") }
}

extension IdentityCard.Source {
    /// The source for a reader.
    var words: String {
        switch self {
        case .aamva: "a barcode"
        case .mrz: "a machine readable zone"
        case .mobileDocument: "a mobile document in a wallet"
        case .selectiveDisclosure: "a credential in a wallet"
        }
    }
}

extension IssuerSignature.State {
    /// The state for a reader.
    var words: String {
        switch self {
        case .none: "none"
        case .present: "not verified"
        case .unreadable: "not readable"
        case .verified: "verified"
        case .invalid: "not valid"
        }
    }
}
