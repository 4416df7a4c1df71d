import Domain

package extension Service {
    /// Counts a call against the limit of its cost, in this process's memory, so no call waits for it.
    ///
    /// - Throws: `Refusal` `rate_limited`.
    func count(_ cost: CallCost, by caller: CountedCaller) throws(Refusal) {
        guard rateLimiting == .on, let limit = policy[\.requests].limit(of: cost, for: caller) else { return }
        try node.callRates.count(cost, by: caller, limit: limit, now: environment.now())
    }

    /// Limits the reading of streams with one certificate, in this process's memory. Each reading may cost hundreds of
    /// statements.
    ///
    /// - Throws: `Refusal` `rate_limited`.
    func limitStreamReads(on connection: ClientConnection) throws(Refusal) {
        guard rateLimiting == .on else { return }
        try connection.certificate?.streamReads.count(
            limit: RateLimit(count: policy[\.streams].readsPerMinute, per: 60),
            now: environment.now())
    }
}
