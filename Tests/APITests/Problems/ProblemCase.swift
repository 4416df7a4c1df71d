import Domain
import Encoding
import Fixtures
import Testing

@testable import API

/// A situation in which a problem is sent, and the same caller after the remedy that its page names.
struct ProblemCase: Sendable, CustomTestStringConvertible {
    typealias Situation = @Sendable (RouterBench) async throws -> (refused: Reply, remedied: Reply)

    let code: String
    let reason: Refusal.Reason?
    /// A part of the refusal's sentence.
    let says: String
    private let policy: Policy
    private let situation: Situation

    init(
        _ code: Refusal.Code, _ reason: Refusal.Reason, _ says: String, policy: Policy = Policy(),
        _ situation: @escaping Situation
    ) {
        self.init(code: code.rawValue, reason, says, policy, situation)
    }

    init(_ code: Refusal.Code, _ says: String, policy: Policy = Policy(), _ situation: @escaping Situation) {
        self.init(code: code.rawValue, nil, says, policy, situation)
    }

    /// For a code of HTTP.
    init(code: String, _ says: String, _ situation: @escaping Situation) {
        self.init(code: code, nil, says, Policy(), situation)
    }

    private init(
        code: String, _ reason: Refusal.Reason?, _ says: String, _ policy: Policy, _ situation: @escaping Situation
    ) {
        (self.code, self.reason, self.says) = (code, reason, says)
        (self.policy, self.situation) = (policy, situation)
    }

    var testDescription: String { [code, reason?.rawValue, says].compactMap(\.self).joined(separator: " ") }

    /// Gets into the situation and out of it.
    func run() async throws {
        try await RouterBench.run(policy) { bench in
            let (refused, remedied) = try await situation(bench)
            let shown = String(decoding: refused.body, as: UTF8.self)
            #expect(
                refused.code == code && refused.text("reason") == reason?.rawValue || code == "user_banned", "\(shown)")
            #expect(says.isEmpty || refused.text("detail")?.contains(says) == true, "\(shown)")
            refused.judge()
            let after = String(decoding: remedied.body, as: UTF8.self)
            #expect((200..<300).contains(remedied.status), "\(remedied.status) \(after) after \(shown)")
        }
    }
}

@Suite("The remedy of a problem")
struct RemedyTests {
    private static let cases = [
        ProblemCase.ofIdentityTokens, ProblemCase.ofProviderEvents, ProblemCase.ofPresenceProofs,
        ProblemCase.ofDPoPProofs, ProblemCase.ofPhoneNumbers, ProblemCase.ofTokenRequests,
        ProblemCase.ofCertificationRequests, ProblemCase.ofProviderKeys, ProblemCase.ofLevels,
        ProblemCase.ofCredentials, ProblemCase.ofStates, ProblemCase.ofMessages, ProblemCase.ofPresentations,
    ].flatMap(\.self)

    /// What no call through the routes can lead to, with the suites that do.
    private static let elsewhere = [
        "internal_error", "header_fields_too_large", "target_too_long", "transfer_coding_unknown",  // MessageRulesTests
        "unavailable outcome_unknown",  // SignInOutcomeTests
        "unavailable store_moved",  // ServedCopyTests
    ]

    @Test("helps whoever is refused: what was refused is accepted after it", arguments: cases)
    func helps(_ one: ProblemCase) async throws { try await one.run() }

    @Test("is tried for every code, and for every reason of one that its page has a row for")
    func covered() {
        let tried = Set(Self.cases.map { [$0.code, $0.reason?.rawValue].compactMap(\.self).joined(separator: " ") })
        let reasons = ProblemReason.all.map { "\($0.code.rawValue) \($0.reason.rawValue)" }
        // A refusal of these always has a reason.
        let alone = ProblemKind.all.map(\.code).filter { code in
            ![
                "invalid_csr", "invalid_provider_key", "invalid_identity_token", "invalid_presence_proof",
                "invalid_dpop_proof", "presentation_rejected", "not_verified",
            ].contains(code)
        }
        let wanted = Set(reasons + alone)
        #expect(wanted.subtracting(tried).sorted() == Self.elsewhere.sorted())
        #expect(tried.subtracting(wanted).sorted() == [], "no page has a row for it")
    }
}
