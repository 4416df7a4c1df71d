/// A write that waits for its commit.
struct PendingWrite: Sendable {
    let run: @Sendable (SQLiteTransaction) -> Outcome
    /// Tells the caller that the body was not run.
    let refuse: @Sendable (StoreError) -> Void

    /// What a body came to, before its caller knows.
    struct Outcome {
        /// Whether what the body wrote is to be kept.
        let isKept: Bool
        /// Whether the store failed it.
        let isFailed: Bool
        /// Answers the caller, with the body's own result or the commit's failure.
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
