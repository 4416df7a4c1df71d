import Domain

/// Limits the readings of streams under one certificate: each may cost hundreds of statements.
package struct LimitStreamReads: Sendable {
    private let context: ServiceContext

    package init(_ context: ServiceContext) { self.context = context }

    /// Counts a reading in this process's memory.
    ///
    /// - Throws: `Refusal` `rate_limited`.
    package func callAsFunction(on connection: ClientConnection) throws(Refusal) {
        guard context.rateLimiting == .on else { return }
        try connection.certificate?.streamReads.count(
            limit: RateLimit(count: context.policy[\.streams].readsPerMinute, per: 60),
            now: context.environment.now())
    }
}
