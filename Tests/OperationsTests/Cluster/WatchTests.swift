import Dispatch
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Synchronization
import Testing

@testable import Database

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
                            _ = release.wait(timeout: .now() + 120)
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
                await #expect(throws: Refusal(.certificateRevoked, "")) {
                    try await fixture.context.authenticate(connection)
                }
                for _ in 0..<16 { release.signal() }
                try await group.waitForAll()
            }
        }
    }

    @Test("A stranger's long transaction delays no change, and its age can be read")
    func foreign() async throws {
        try await ServiceFixture.run(on: .postgresql) { fixture in
            let connection = try await fixture.connectNewDevice()
            let slow = ServingNode(caches: Caches(store: fixture.store))
            let context = fixture.context(node: slow)
            let watch = context.invalidator
            try await watch.poll()
            let progress = ReadingProgress()
            let release = DispatchSemaphore(value: 0)
            let late = try await fixture.opened("late", on: connection)
            let lateText = try #require(late.token).text.reveal()
            _ = try await context.checkSession(lateText, on: connection)
            try await fixture.store.write {
                _ = try SessionRepository($0).end(.session(late.session.id), at: $0.now, .byAdmin)
            }
            // It tells of that end, and has the lowest number of all that follow.
            let holder = Task { [store = fixture.store] in
                try await store.write { transaction in
                    try ChangeLog(transaction).append(.session(late.session.tokenHash))
                    _ = try transaction.first("SELECT 1")
                    progress.hold()
                    _ = release.wait(timeout: .now() + 120)
                }
            }
            try await wait(until: { progress.held == 1 })
            for number in 0..<5 {
                let text = try #require(try await fixture.opened("user-\(number)", on: connection).token).text.reveal()
                _ = try await context.checkSession(text, on: connection)
                try await fixture.context.endSession(text, on: connection)
                try await watch.poll()
                await #expect(throws: Refusal(.sessionDestroyed, "")) {
                    try await context.checkSession(text, on: connection)
                }
                _ = try await context.checkSession(lateText, on: connection)
            }
            // Other tests have transactions on this server, too: the oldest may have changed since the last look.
            for _ in 0..<12000 where watch.horizonAge == 0 {
                try await Task.sleep(for: .milliseconds(10))
                try await watch.poll()
            }
            #expect(watch.horizonAge > 0)
            release.signal()
            try await holder.value
            try await watch.poll()
            await #expect(throws: Refusal(.sessionDestroyed, "")) {
                try await context.checkSession(lateText, on: connection)
            }
        }
    }

    /// A watch over a store of the fixture's, by a policy of one second.
    private func watch(_ store: any Database) -> CacheInvalidator {
        var policy = Policy()
        policy.bans.maximumStaleness = 1
        return CacheInvalidator(
            store: store, node: ServingNode(caches: Caches(store: store)), policy: CurrentPolicy(policy),
            environment: Environment(now: TestTime.clock))
    }

    @Test("A node whose own commits do not come through refuses, however many of its looks are answered")
    func unacknowledged() async throws {
        try await withStore(.postgresql, migrations: Schema.migrations, clock: TestTime.clock) { store in
            let isolated = IsolatedStore(store)
            let watch = watch(isolated)
            try await becomeFresh(watch)
            isolated.fault.withLock { $0 = .unacknowledged }
            try await Task.sleep(for: .milliseconds(1100))
            await #expect(throws: Refusal(.unavailable, "", reason: .outcomeUnknown)) { try await watch.poll() }
            #expect(throws: Refusal(.unavailable, "")) { try watch.requireFresh() }
            // Another server answers the looks.
            isolated.fault.withLock { $0 = .readsOfBefore }
            for _ in 0..<3 { try await watch.poll() }
            #expect(throws: Refusal(.unavailable, "")) { try watch.requireFresh() }
            isolated.fault.withLock { $0 = .none }
            try await becomeFresh(watch)
        }
    }

    private func becomeFresh(_ watch: CacheInvalidator) async throws {
        let deadline = ContinuousClock.now + .seconds(120)
        repeat {
            try await watch.poll()
            if watch.isFresh { return }
            try await Task.sleep(for: .milliseconds(20))
        } while ContinuousClock.now < deadline
        Issue.record("the view does not become fresh")
    }

    @Test("A view is as old as the begin of the commit that it shows")
    func begin() async throws {
        try await withStore(.postgresql, migrations: Schema.migrations, clock: TestTime.clock) { store in
            let slow = IsolatedStore(store)
            let watch = watch(slow)
            slow.fault.withLock { $0 = .slow }
            try await watch.poll()
            #expect(watch.age >= 0.15)
        }
    }

    @Test("A store that is restored under a node ends it", arguments: StoreKind.shared)
    func restored(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let context = fixture.context(node: ServingNode(caches: Caches(store: fixture.store)))
            let watch = CacheInvalidator(
                store: fixture.store, node: context.node, policy: fixture.policy,
                environment: Environment(now: { fixture.clock.now }), nonceGeneration: "")
            try await watch.poll()
            _ = try await RestoreStore(
                restored: fixture.store, replaced: nil, keys: fixture.personalKeys,
                environment: Environment(now: { fixture.clock.now }), actor: "admin test")(reason: nil)
            await #expect(throws: CacheInvalidator.StoreRestored.self) { try await watch.run { _ in } }
            // One that starts on it finds another generation than the one it was made with.
            let late = CacheInvalidator(
                store: fixture.store, node: context.node, policy: fixture.policy,
                environment: Environment(now: { fixture.clock.now }), nonceGeneration: "")
            await #expect(throws: CacheInvalidator.StoreRestored.self) { try await late.poll() }
        }
    }

    private func wait(until condition: () -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(120)
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

/// A moment at which a clock stands.
private enum TestTime {
    static let now = Date(timeIntervalSince1970: 1_800_000_000)
    static let clock: @Sendable () -> Date = { now }
}

/// A store whose server is cut off from its standby, or was replaced by another.
private final class IsolatedStore: Database {
    enum Fault {
        case none
        /// Commits are not acknowledged.
        case unacknowledged
        /// What is read is of before the last commit.
        case readsOfBefore
        case slow
    }

    let fault = Mutex(Fault.none)
    private let store: any Database

    init(_ store: any Database) { self.store = store }

    func read<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        try await store.read(body)
    }

    func write<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        try await store.write(body)
    }

    func heartbeat() async throws -> Heartbeat? {
        switch fault.withLock({ $0 }) {
        case .none, .readsOfBefore: break
        case .unacknowledged: throw StoreError.outcomeUnknown(reason: "the wait for the standby was ended")
        case .slow: try await Task.sleep(for: .milliseconds(150))
        }
        return try await store.heartbeat()
    }

    func changePosition() async throws -> ChangePosition { try await store.changePosition() }

    func changes(after position: ChangePosition, limit: Int) async throws -> ChangeReading {
        let reading = try await store.changes(after: position, limit: limit)
        guard fault.withLock({ $0 == .readsOfBefore }) else { return reading }
        return ChangeReading(
            changes: [], position: position, isInterrupted: false, hasMore: false, horizonAge: 0, now: reading.now)
    }

    func tables() async throws -> [TableShape] { try await store.tables() }
    func changeStamp() throws -> Int64 { try store.changeStamp() }
    func check() async throws { try await store.check() }
    func close() async throws {}
}
