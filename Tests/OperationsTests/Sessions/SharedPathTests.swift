import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

/// One statement opens and ends most sessions. What follows has to be what follows from a transaction of its own.
@Suite("The shared path of a session")
struct SharedPathTests {
    /// A store whose shared statements change nothing, so that a transaction decides.
    private struct UnsharedStore: Database {
        let store: any Database

        func share(_ statement: SharedStatement) async throws -> [Row] { [] }

        func read<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
            try await store.read(body)
        }

        func write<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
            try await store.write(body)
        }

        func tables() async throws -> [TableShape] { try await store.tables() }
        func changeStamp() throws -> Int64 { try store.changeStamp() }
        func check() async throws { try await store.check() }
        func close() async throws {}
    }

    /// All that follows from an operation.
    private struct Following: Equatable {
        var audit: Int64 = 0
        /// Kinds of change, in the order of the log.
        var notices: [Int64] = []
        var queued: Int64 = 0
        /// Sessions in the memory of the node.
        var remembered = 0
        var wakesOutbox = false
    }

    private enum Event: CaseIterable {
        case opened
        case superseded
        case ended
    }

    private func following(_ event: Event, isShared: Bool, on kind: StoreKind) async throws -> Following {
        var policy = Policy()
        policy.sessions.perUserAndDevice = 2
        var following = Following()
        try await ServiceFixture.run(policy, on: kind) { fixture in
            let store: any Database = isShared ? fixture.store : UnsharedStore(store: fixture.store)
            let node = ServingNode(caches: Caches(store: store))
            let service = fixture.context(store: store, node: node)
            let connection = try await fixture.connectNewDevice()
            func open() async throws -> String {
                let opened = try await service.openSession(
                    identityToken: try fixture.identityToken("alice", on: connection), applicationID: nil,
                    on: connection)
                return try #require(opened.token).text.reveal()
            }
            let first = try await open()
            if event == .superseded { _ = try await open() }
            let before = try await written(fixture.store)
            switch event {
            case .opened, .superseded: _ = try await open()
            case .ended: try await service.endSession(first, on: connection)
            }
            let after = try await written(fixture.store)
            following = Following(
                audit: after.audit - before.audit, notices: Array(after.notices.dropFirst(before.notices.count)),
                queued: after.queued - before.queued, remembered: node.caches.sessions.count)
        }
        return following
    }

    private func written(_ store: any Database) async throws -> Following {
        try await store.read { transaction in
            func count(_ table: String) throws -> Int64 {
                try transaction.first("SELECT count(*) FROM \(table)")?.integer(0) ?? -1
            }
            return Following(
                audit: try count("audit_entries"),
                notices: try transaction.query("SELECT kind FROM change_log WHERE kind > 0 ORDER BY n").map {
                    try $0.integer(0)
                }, queued: try count("outbox"))
        }
    }

    @Test("has the consequences of a transaction of its own", arguments: StoreKind.shared)
    func consequences(kind: StoreKind) async throws {
        for event in Event.allCases {
            let shared = try await following(event, isShared: true, on: kind)
            #expect(try await following(event, isShared: false, on: kind) == shared, "\(event)")
            #expect(shared.audit == 0 && shared.queued == 0, "\(event)")
            #expect(shared.notices.count == (event == .opened ? 0 : 1), "\(event)")
            #expect(shared.remembered == (event == .ended ? 0 : 2), "\(event)")
        }
    }

    @Test("has only events without an audit entry, whose notices its statement inserts")
    func events() {
        let session = EndedSession(
            id: SessionID(UUID()), tokenHash: .of("token"), userID: UserID(UUID()), providerID: ProviderID(UUID()))
        for why in [SessionEnding.byUser, .superseded] {
            let consequence = Consequence(of: .sessionEnded(session, why))
            #expect(consequence.audit == nil)
            #expect(consequence.notices == [.session(session.tokenHash)])
        }
    }
}
