import Domain

/// Counts calls against the limits of what they cost, in this process's memory: no call waits for it.
package struct CountCall: Sendable {
    private let context: ServiceContext

    package init(_ context: ServiceContext) { self.context = context }

    /// Counts a call.
    ///
    /// - Throws: `Refusal` `rate_limited`.
    package func callAsFunction(_ cost: CallCost, by caller: CountedCaller) throws(Refusal) {
        try context.count(cost, by: caller)
    }
}

extension ServiceContext {
    /// Counts a call of a caller.
    ///
    /// - Throws: `Refusal` `rate_limited`.
    func count(_ cost: CallCost, by caller: CountedCaller) throws(Refusal) {
        guard rateLimiting == .on, let limit = policy[\.requests].limit(of: cost, for: caller) else { return }
        try node.callRates.count(cost, by: caller, limit: limit, now: environment.now())
    }
}
