import Domain

/// One thing that is wrong with a token, and the sentence that helps its maker.
package struct TokenDefect: Error, Sendable, Equatable {
    package let reason: Refusal.Reason
    /// One sentence: names the header parameter or claim, and by how much it is off.
    package let detail: String

    package init(_ reason: Refusal.Reason, _ detail: String) {
        self.reason = reason
        self.detail = detail
    }

    /// What the caller is told under some code. Identity tokens, and presence proofs after them, have a fixed reason.
    func refusal(_ code: Refusal.Code) -> Refusal {
        switch code {
        case .invalidIdentityToken, .invalidPresenceProof: Refusal(code, detail, reason: reason)
        case .invalidCSR: Refusal(code, detail, reason: .malformed)
        case .invalidProviderKey: Refusal(code, detail, reason: .badProof)
        default: Refusal(code, detail)
        }
    }
}
