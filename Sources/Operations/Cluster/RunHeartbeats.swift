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
