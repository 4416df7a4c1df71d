import Domain
import HTTPTypes

/// The meaning of a code: its row in `Codes.md`, and the page that its problems' `type` names (RFC 9457 §3.1.1).
struct ProblemKind: Sendable {
    let example: Problem
    /// When the service refuses with the code. The contract's words are between backticks.
    let cause: String
    /// What the caller's developer must do.
    let mend: String

    var code: String { example.code }
    var status: HTTPResponse.Status { example.status }
    var reasons: [ProblemReason] { ProblemReason.of(code) }

    init(_ example: any Error, _ cause: String, _ mend: String) {
        (self.example, self.cause, self.mend) = (Problem(example), cause, mend)
    }

    /// The kind of a code; `nil` for a code that no response has.
    static func of(_ code: String) -> ProblemKind? { byCode[code] }

    private static let byCode = Dictionary(uniqueKeysWithValues: all.map { ($0.code, $0) })

    /// All kinds, in the order of their statuses.
    static let all = ofRequests + ofSessions + ofPermissions + ofContent + ofService
}
