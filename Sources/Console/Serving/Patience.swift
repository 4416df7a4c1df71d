import Domain

/// The time for which a page waits for the store. The work goes on to its end, because a statement cannot be taken back,
/// but nobody waits for it.
struct Patience: Sendable {
    let limit: Duration

    static let usual = Patience(limit: .seconds(2))

    /// - Throws: `Refusal` `unavailable` after the limit; what the body throws.
    func callAsFunction<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) async throws -> T {
        let (values, sender) = AsyncThrowingStream.makeStream(of: T.self)
        let work = Task {
            do {
                sender.yield(try await body())
                sender.finish()
            } catch {
                sender.finish(throwing: error)
            }
        }
        let clock = Task { [limit] in
            try await Task.sleep(for: limit)
            sender.finish(throwing: Refusal.pageTooSlow)
        }
        defer {
            work.cancel()
            clock.cancel()
        }
        for try await value in values { return value }
        throw CancellationError()
    }
}
