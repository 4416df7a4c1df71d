import Synchronization

/// The verification of the audit log that runs on a node. A caller who asks for another one meanwhile gets its result, so
/// many callers read the log once.
package final class SharedVerification: Sendable {
    private let running = Mutex<Task<VerifyAudit.Report, any Error>?>(nil)

    package init() {}

    func callAsFunction(
        _ body: @escaping @Sendable () async throws -> VerifyAudit.Report
    ) async throws -> VerifyAudit.Report {
        let task = running.withLock { running in
            if let running { return running }
            let task = Task {
                defer { self.running.withLock { $0 = nil } }
                return try await body()
            }
            running = task
            return task
        }
        return try await task.value
    }
}
