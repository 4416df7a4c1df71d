/// A write in the queue.
struct PendingWrite: Sendable {
    let run: @Sendable (SQLiteTransaction) -> Outcome
    /// Reports to the caller that the body was not run.
    let refuse: @Sendable (StoreError) -> Void

    /// The result of a body before the commit.
    struct Outcome {
        /// Whether the body's changes are kept.
        let isKept: Bool
        /// Whether the store caused the failure.
        let isFailed: Bool
        /// Completes the call, with the body's result or the commit's failure.
        let settle: (_ failure: StoreError?) -> Void
    }

    init<T: Sendable>(
        _ body: @Sendable @escaping (any Transaction) throws -> T, _ continuation: CheckedContinuation<T, any Error>
    ) {
        run = { transaction in
            let result = Result { try transaction.run(body) }
            let isKept = if case .success = result { true } else { false }
            let isFailed = if case .failure(StoreError.unavailable) = result { true } else { false }
            return Outcome(isKept: isKept, isFailed: isFailed) { failure in
                if let failure {
                    continuation.resume(throwing: failure)
                } else {
                    continuation.resume(with: result)
                }
            }
        }
        refuse = { continuation.resume(throwing: $0) }
    }
}
