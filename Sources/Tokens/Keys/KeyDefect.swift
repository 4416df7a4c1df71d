import Domain

/// What is wrong with a public key that someone shows.
struct KeyDefect: Error, Equatable {
    /// The contract's words for it.
    enum Reason: String {
        case malformed
        case privateKey = "private_key"
        case weakKey = "weak_key"
        case unsupportedKey = "unsupported_key"
    }

    let reason: Reason
    let detail: String

    init(_ reason: Reason, _ detail: String) {
        self.reason = reason
        self.detail = detail
    }

    /// What the caller is told, under the code of what the key was shown for.
    func refusal(_ code: Refusal.Code) -> Refusal {
        Refusal(code, detail, reason: reason.rawValue)
    }
}
