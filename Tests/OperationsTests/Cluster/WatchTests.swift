import Database
import Dispatch
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Synchronization
import Testing

@Suite("Keeping memories true")
struct WatchTests {
    @Test(
        "A crowd of readers does not keep a node from seeing what changed elsewhere",
        arguments: [(StoreKind.sqlite, 4), (StoreKind.postgresql, 2)])
    func crowd(kind: StoreKind, readers: Int) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let connection = try await fixture.connectNewDevice()
            let progress = ReadingProgress()
            let release = DispatchSemaphore(value: 0)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<16 {
                    group.addTask { [store = fixture.store] in
                        try await store.read { _ in
                            progress.hold()
                            // Longer than the test waits: who reads beside it must not need one of these.
                            _ = release.wait(timeout: .now() + 30)
                        }
                    }
                }
                try await wait(until: { progress.held >= readers })
                try await fixture.store.write { transaction in
                    guard
                        let certificate = try CertificateRepository(transaction).find(thumbprint: connection.thumbprint)
                    else { return }
                    _ = try CertificateRepository(transaction).revoke(
                        serial: certificate.serial, at: transaction.now, reason: "keyCompromise")
                    try ChangeLog(transaction).append(.device(certificate.deviceID))
                }
                group.addTask {
                    try await fixture.watch.poll()
                    progress.see()
                }
                try await wait(until: { progress.seen })
                #expect(progress.seen)
                await #expect(throws: Refusal(.certificateRevoked, "")) { try await fixture.judge(connection) }
                for _ in 0..<16 { release.signal() }
                try await group.waitForAll()
            }
        }
    }

    private func wait(until condition: () -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(10)
        while !condition(), ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(5)) }
    }
}

/// How many readers hold a connection, and whether the watch has looked.
private final class ReadingProgress: Sendable {
    private let state = Mutex((held: 0, seen: false))

    var held: Int { state.withLock { $0.held } }
    var seen: Bool { state.withLock { $0.seen } }

    func hold() { state.withLock { $0.held += 1 } }
    func see() { state.withLock { $0.seen = true } }
}
