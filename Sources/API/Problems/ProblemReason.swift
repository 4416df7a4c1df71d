import Domain

/// A reason under a code: its row on the page of the code and in `Codes.md`, and the anchor of its problems' `type`.
struct ProblemReason: Sendable {
    let code: Refusal.Code
    let reason: Refusal.Reason
    /// When the service refuses with the reason. The contract's words are between backticks.
    let cause: String
    /// What the caller's developer must do.
    let mend: String
    /// A call that is not refused for this reason: its line, then what it sends. Values in angle brackets are the
    /// caller's.
    let example: String

    init(
        _ code: Refusal.Code, _ reason: Refusal.Reason, _ cause: String, _ mend: String, _ example: String...
    ) {
        self.init(code, reason, cause, mend, lines: example)
    }

    init(_ code: Refusal.Code, _ reason: Refusal.Reason, _ cause: String, _ mend: String, lines: [String]) {
        (self.code, self.reason, self.cause, self.mend) = (code, reason, cause, mend)
        example = lines.joined(separator: "\n")
    }

    /// The reasons of a code in their order; empty for a code without reasons, or with the company's words.
    static func of(_ code: String) -> [ProblemReason] { byCode[code] ?? [] }

    /// The name of a problem's page: its code, and the anchor of its reason if the page has a row for it.
    static func page(of code: String, _ reason: Refusal.Reason?) -> String {
        guard let reason, of(code).contains(where: { $0.reason == reason }) else { return code }
        return "\(code)#\(reason.rawValue)"
    }

    /// All reasons that a response may have.
    static let all = [
        ofPhoneNumbers, ofTokenRequests, ofCertificationRequests, ofProviderKeys, ofIdentityTokens, ofPresenceProofs,
        ofProviderEvents, ofDPoPProofs, ofPresentations, ofLevels, ofService,
    ].flatMap(\.self)

    private static let byCode = Dictionary(grouping: all, by: \.code.rawValue)
}
