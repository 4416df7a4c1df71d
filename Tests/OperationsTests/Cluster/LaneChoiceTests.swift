import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Synchronization
import Testing

@Suite("Who waits in line with whom")
struct LaneChoiceTests {
    @Test("What an admin changes, and that a node lives, goes past the requests")
    func lanes() async throws {
        try await ServiceFixture.run { fixture in
            let store = LaneStore(fixture.store)
            let admin = Administration(
                store: store, environment: Environment(now: { fixture.clock.now }), actor: "admin test"
            ) { fixture.personalKeys }
            _ = try await admin.disableProvider("test", reason: "ticket:1")
            #expect(store.take() == [.administration])
            let node = AnnounceNode(
                store: store, keys: fixture.personalKeys, host: "web-1", version: "1", environment: Environment(),
                fingerprints: { NodeFingerprints(items: [:], policies: [:]) })
            try await node.beat()
            #expect(store.take() == [.administration])
        }
    }

    @Test("A page of the console has its own line")
    func pages() async throws {
        try await ServiceFixture.run { fixture in
            let store = LaneStore(fixture.store)
            let keys = fixture.personalKeys
            let page = Administration(
                store: store, environment: fixture.admin.environment, actor: "admin test", reading: .console
            ) { keys }
            _ = try await page.readProvider("test")
            #expect(store.take() == [.console])
        }
    }

    @Test("A sign-in waits with other requests")
    func requests() async throws {
        try await ServiceFixture.run { fixture in
            let store = LaneStore(fixture.store)
            let connection = try await fixture.connectNewDevice()
            let token = try fixture.identityToken("alice", on: connection)
            _ = try await fixture.context(store: store).openSession(
                identityToken: token, applicationID: nil, on: connection)
            // The statement that finds no user, and the transaction that makes one.
            #expect(store.take() == [.usual, .usual])
        }
    }
}

/// A store that notes on which lane it is written to, and read from if that is not the usual one.
private final class LaneStore: Database {
    private let store: any Database
    private let lanes = Mutex<[Lane]>([])

    init(_ store: any Database) { self.store = store }

    func take() -> [Lane] {
        lanes.withLock { lanes in
            defer { lanes = [] }
            return lanes
        }
    }

    func read<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        try await store.read(body)
    }

    func read<T: Sendable>(
        on lane: Lane, _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        if lane != .usual { lanes.withLock { $0.append(lane) } }
        return try await store.read(on: lane, body)
    }

    func write<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        try await write(on: .usual, body)
    }

    func write<T: Sendable>(
        on lane: Lane, _ body: @Sendable @escaping (any Transaction) throws -> T
    ) async throws -> T {
        lanes.withLock { $0.append(lane) }
        return try await store.write(on: lane, body)
    }

    func tables() async throws -> [TableShape] { try await store.tables() }
    func changeStamp() throws -> Int64 { try store.changeStamp() }
    func check() async throws { try await store.check() }
    func close() async throws {}
}
