import Synchronization

extension CacheInvalidator {
    /// Commits heartbeats until the task is cancelled, each on time, however long those before it take. It ends where
    /// the store needs none.
    func runHeartbeats(_ failures: FailureReports) async {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled, let pause = pauseBetweenBeats {
                if let beat = beginBeat() {
                    group.addTask { [self] in
                        do {
                            try await commit(beat)
                            failures.end()
                        } catch {
                            failures.tell(error)
                        }
                    }
                    continue
                }
                try? await Task.sleep(for: pause)
            }
        }
    }
}

/// Tells about the first failure of a row, and again while it lasts, every ten seconds.
final class FailureReports: Sendable {
    private let toldAt = Mutex<ContinuousClock.Instant?>(nil)
    private let onFailure: @Sendable (any Error) -> Void

    init(_ onFailure: @escaping @Sendable (any Error) -> Void) { self.onFailure = onFailure }

    func tell(_ error: any Error) {
        let isDue = toldAt.withLock { toldAt in
            guard toldAt.map({ ContinuousClock.now - $0 >= .seconds(10) }) ?? true else { return false }
            toldAt = .now
            return true
        }
        if isDue { onFailure(error) }
    }

    /// It did not fail this time.
    func end() { toldAt.withLock { $0 = nil } }
}
