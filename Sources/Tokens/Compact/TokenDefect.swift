import Domain

/// One defect of a token, with a sentence that helps its developer.
package struct TokenDefect: Error, Sendable, Equatable {
    package let reason: Refusal.Reason
    /// One sentence: names the header parameter or claim, and by how much it is off.
    package let detail: String

    package init(_ reason: Refusal.Reason, _ detail: String) {
        self.reason = reason
        self.detail = detail
    }

    /// The refusal under some code. Only identity tokens and a device's proofs have a fixed reason.
    func refusal(_ code: Refusal.Code) -> Refusal {
        switch code {
        case .invalidIdentityToken, .invalidPresenceProof, .invalidDPoPProof: Refusal(code, detail, reason: reason)
        case .invalidCSR: Refusal(code, detail, reason: .malformed)
        case .invalidProviderKey: Refusal(code, detail, reason: .badProof)
        default: Refusal(code, detail)
        }
    }
}

/// A claim about the user that was left out, with a sentence that helps its developer.
package struct IgnoredClaim: Sendable, Equatable {
    package let name: String
    package let detail: String
}
