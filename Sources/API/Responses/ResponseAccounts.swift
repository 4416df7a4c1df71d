import Domain
import NIOCore
import Synchronization

/// The budget of the responses that clients have not read, and who waits for a turn in it. Listeners share one; that
/// of the probes has its own.
package final class ResponseAccounts: Sendable {
    typealias Budget = ResponseBudget<ObjectIdentifier>

    private struct State {
        var budget: Budget
        var waiting: [Budget.ClaimID: AsyncStream<Budget.Verdict>.Continuation] = [:]

        mutating func tell(_ decisions: [Budget.Decision]) {
            for decision in decisions { waiting.removeValue(forKey: decision.id)?.yield(decision.verdict) }
        }
    }

    /// A response of so many bytes needs no claim: the limits of connections bound how many there are.
    let unclaimed: Int
    private let state: Mutex<State>

    init(_ limits: Budget.Limits, unclaimed: Int = 32_768) {
        self.unclaimed = unclaimed
        state = Mutex(State(budget: Budget(limits: limits)))
    }

    /// Bytes that are claimed now.
    package var claimed: Int { state.withLock { $0.budget.total } }

    /// Claims that wait for their turn.
    var waiting: Int { state.withLock { $0.budget.waiting } }

    /// Claims bytes; whether they are granted is known by ``ResponseClaim/granted()``.
    func claim(_ bytes: Int, for owner: Budget.Owner) -> ResponseClaim {
        state.withLock { state in
            let (id, verdict) = state.budget.claim(bytes, for: owner)
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

/// The claim of one response. Whoever has it ends it, once or more often.
struct ResponseClaim: Sendable {
    fileprivate let accounts: ResponseAccounts
    let id: ResponseAccounts.Budget.ClaimID
    fileprivate let verdict: ResponseAccounts.Budget.Verdict
    fileprivate let turn: AsyncStream<ResponseAccounts.Budget.Verdict>?

    /// Waits for its turn on its connection.
    ///
    /// - Throws: `Refusal` `rate_limited` or `unavailable` if others hold too much; ``ClientGone`` if the claim was
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

    /// The response has so many bytes.
    func settle(at bytes: Int) { accounts.settle(id, at: bytes) }

    /// The response was read, or nobody will read it.
    func end() { accounts.end(id) }
}

extension ResponseBudget.Level {
    /// Seconds in which slow readers are likely to have read or lost something.
    private static var pause: Int { 2 }

    fileprivate var refusal: Refusal {
        switch self {
        case .certificate:
            Refusal(
                .rateLimited, "Large responses to this certificate are still unread. Read them first.",
                retryAfter: Self.pause)
        case .user:
            Refusal(
                .rateLimited, "Large responses to this user's devices are still unread. Read them first.",
                retryAfter: Self.pause)
        case .total:
            Refusal(
                .unavailable, "Too many large responses are under way. Try again in a moment.", retryAfter: Self.pause)
        }
    }
}
