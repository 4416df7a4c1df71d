import Testing

/// Waits until something holds, for two minutes at most: a machine that is busy is slow.
func reach(_ condition: () async throws -> Bool) async throws {
    for _ in 0..<12000 {
        if try await condition() { return }
        try await Task.sleep(for: .milliseconds(10))
    }
    Issue.record("what the test waits for did not come")
}
