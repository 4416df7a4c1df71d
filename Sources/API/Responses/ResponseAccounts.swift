import Domain
import Metrics
import NIOCore
import Synchronization

/// The memory budget of unread responses, and the requests that wait for a share of it. Listeners share one; the probes
/// have their own.
package final class ResponseAccounts: Sendable {
    typealias Budget = ResponseBudget<ObjectIdentifier>

    private struct State {
        var budget: Budget
        var waiting: [Budget.ClaimID: AsyncStream<Budget.Verdict>.Continuation] = [:]

        mutating func tell(_ decisions: [Budget.Decision]) {
            for decision in decisions { waiting.removeValue(forKey: decision.id)?.yield(decision.verdict) }
        }
    }

    /// Smaller responses need no claim, so they cost no lock that connections share. The limits of connections and
    /// streams bound their number.
    let unclaimed: Int
    /// Smaller bodies of requests need no claim either.
    static let unclaimedBody = 16_384
    /// The largest response, in bytes, that is never refused after its change was stored.
    static let largestCommitted = 32_768
    private let state: Mutex<State>

    init(_ limits: Budget.Limits, unclaimed: Int = 4096) {
        self.unclaimed = unclaimed
        state = Mutex(State(budget: Budget(limits: limits)))
    }

    /// The bytes that are claimed now.
    package var claimed: Int { state.withLock { $0.budget.total } }

    /// The number of claims that wait.
    var waiting: Int { state.withLock { $0.budget.waiting } }

    /// Claims bytes. ``ResponseClaim/granted()`` waits until they are granted.
    func claim(_ bytes: Int, for owner: Budget.Owner, at stage: Budget.Stage = .planned) -> ResponseClaim {
        state.withLock { state in
            let (id, verdict) = state.budget.claim(bytes, for: owner, at: stage)
            guard verdict == .waits else { return ResponseClaim(accounts: self, id: id, verdict: verdict, turn: nil) }
            let (turn, sender) = AsyncStream.makeStream(of: Budget.Verdict.self)
            state.waiting[id] = sender
            return ResponseClaim(accounts: self, id: id, verdict: verdict, turn: turn)
        }
    }

    fileprivate func settle(_ id: Budget.ClaimID, at bytes: Int) {
        state.withLock { $0.tell($0.budget.settle(id, at: bytes)) }
    }

    fileprivate func end(_ id: Budget.ClaimID) {
        state.withLock { state in
            state.waiting.removeValue(forKey: id)?.finish()
            state.tell(state.budget.end(id))
        }
    }
}

/// The claim of one response. It may be ended more than once.
struct ResponseClaim: Sendable {
    fileprivate let accounts: ResponseAccounts
    let id: ResponseAccounts.Budget.ClaimID
    fileprivate let verdict: ResponseAccounts.Budget.Verdict
    fileprivate let turn: AsyncStream<ResponseAccounts.Budget.Verdict>?

    /// Waits until the claim is granted.
    ///
    /// - Throws: `Refusal` `rate_limited` or `unavailable` if others use too much; ``ClientGone`` if the claim was
    ///   ended.
    func granted() async throws {
        var verdict = verdict
        if let turn {
            for await decided in turn {
                verdict = decided
                break
            }
        }
        switch verdict {
        case .granted: return
        case .waits:
            end()
            throw ClientGone()
        case .refused(let level): throw level.refusal
        }
    }

    /// Sets the final size of the response.
    func settle(at bytes: Int) { accounts.settle(id, at: bytes) }

    /// Ends the claim: the response was read, or will not be read.
    func end() { accounts.end(id) }
}

extension ResponseBudget.Level {
    /// The seconds in which slow clients are likely to have read something or to be gone.
    private static var pause: Int { 2 }

    fileprivate var refusal: Refusal {
        switch self {
        case .certificate: .responsesUnread(ofCertificate: Self.pause)
        case .user: .responsesUnread(ofUser: Self.pause)
        case .provider: .responsesUnread(ofProvider: Self.pause)
        case .network: .responsesUnread(ofNetwork: Self.pause)
        case .total: .tooManyResponses(retryAfter: Self.pause)
        }
    }
}

/// The event, for the connection, that a peer reads none of its answers.
struct AnswersNotTaken: Sendable {
    /// Counts answers whose time was over before their peer had read them.
    static func count(_ answers: Int = 1) {
        Counter(label: "answers_not_taken").increment(by: answers)
    }
}

/// The bytes of answers that a connection has not sent. Use only on its event loop.
final class UnsentBytes {
    private let limit: Int
    private(set) var count = 0
    private var waiting: [(id: ObjectIdentifier, goOn: () -> Void)] = []

    init(limit: Int) {
        self.limit = limit
    }

    /// Whether no more requests may be worked on until some bytes were sent.
    var isFull: Bool { count > limit }

    func add(_ bytes: Int) {
        count += bytes
    }

    /// Subtracts sent or discarded bytes. The longest waiting request is then worked on.
    func subtract(_ bytes: Int) {
        count -= bytes
        guard !isFull, !waiting.isEmpty else { return }
        waiting.removeFirst().goOn()
    }

    func wait(_ id: ObjectIdentifier, _ goOn: @escaping () -> Void) {
        waiting.append((id, goOn))
    }

    func forget(_ id: ObjectIdentifier) {
        waiting.removeAll { $0.id == id }
    }
}
