import Domain
import HTTPTypes

/// What one code of the contract means: the row of `Codes.md` and the page under its problems' `type` (RFC 9457 §3.1.1).
struct ProblemKind: Sendable {
    /// An answer that has the code.
    let example: Problem
    /// When the service refuses by it. Words between backticks are of the contract.
    let cause: String
    /// What the developer of the caller does then.
    let mend: String

    var code: String { example.code }
    var status: HTTPResponse.Status { example.status }

    init(_ code: Refusal.Code, _ cause: String, _ mend: String, _ detail: String) {
        self.init(Refusal(code, detail), cause, mend)
    }

    init(_ example: any Error, _ cause: String, _ mend: String) {
        (self.example, self.cause, self.mend) = (Problem(example), cause, mend)
    }

    /// The kind of a code; `nil` for a code that no answer has.
    static func of(_ code: String) -> ProblemKind? { byCode[code] }

    private static let byCode = Dictionary(uniqueKeysWithValues: all.map { ($0.code, $0) })

    /// All of them, by status.
    static let all = ofRequests + ofSessions + ofPermissions + ofContent + ofService
}
