extension CacheInvalidator {
    /// Commits heartbeats until the task is cancelled. Each begins on time, even if earlier ones are slow. It returns
    /// at once if the store needs none.
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
