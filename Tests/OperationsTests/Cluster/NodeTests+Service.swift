import Authority
import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Synchronization
import Testing

/// What nodes that serve on one store leave to each other, and take from each other.
extension NodeTests {
    @Test("A node whose clock is a day ahead forgets nothing that others still need", arguments: StoreKind.all)
    func clock(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            _ = try await fixture.opened("alice", on: try await fixture.connectNewDevice())
            try await Housekeeping(fixture.context(ahead: 86_400))()
            let left = try await fixture.store.read { transaction in
                try ["rates", "sessions"].map {
                    try transaction.first("SELECT COUNT(*) FROM \($0)")?.integer(0)
                }
            }
            #expect(left == [2, 1])
        }
    }

    @Test("A node that comes after changes were forgotten forgets all that it remembered")
    func gap() async throws {
        try await ServiceFixture.run { fixture in
            let connection = try await fixture.connectNewDevice()
            let opened = try await fixture.opened("alice", on: connection)
            let token = try #require(opened.token).text.reveal()
            _ = try await fixture.context.checkSession(token, on: connection)
            let id = opened.session.id
            let (certificate, hash) = (connection.thumbprint, opened.session.tokenHash)
            try await fixture.store.write { transaction in
                try SessionRepository(transaction).end(.session(id), at: transaction.now, .byAdmin)
                let serial = try CertificateRepository(transaction).find(thumbprint: certificate)?.serial ?? ""
                _ = try CertificateRepository(transaction).revoke(
                    serial: serial, at: transaction.now, reason: "unspecified")
                let changes = ChangeLog(transaction)
                for _ in 0..<3 { try changes.append(.session(hash)) }
                // As if all nodes that count had read them.
                try transaction.execute("DELETE FROM change_log")
            }
            try await fixture.watch.poll()
            await #expect(throws: Refusal(.sessionDestroyed, "")) {
                try await fixture.context.checkSession(token, on: connection)
            }
            await #expect(throws: Refusal(.certificateRevoked, "")) {
                try await fixture.context.authenticate(connection)
            }
        }
    }

    @Test(
        "The log is kept for a node that was just cut off, and not for one that was halted for long, which forgets all",
        arguments: StoreKind.shared)
    func unseen(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            let connection = try await fixture.connectNewDevice()
            let opened = try await fixture.opened("alice", on: connection)
            let text = try #require(opened.token).text.reveal()
            let slow = ServingNode(caches: Caches(store: fixture.store))
            let context = fixture.context(node: slow)
            let watch = context.invalidator
            func announce(_ position: @escaping @Sendable () -> ChangePosition?) -> AnnounceNode {
                AnnounceNode(
                    store: fixture.store, keys: fixture.personalKeys, host: "web-1", version: "1",
                    environment: Environment(), fingerprints: { NodeFingerprints(items: [:], policies: [:]) },
                    position: position)
            }
            try await watch.poll()
            try await announce { watch.position }.beat()
            let other = announce { fixture.watch.position }
            _ = try await context.checkSession(text, on: connection)
            try await fixture.context.endSession(text, on: connection)
            _ = try await fixture.opened("bob", on: connection)
            let count = "SELECT count(*) FROM change_log WHERE kind = 1"
            /// Housekeeping of another node that has read all, half an hour later.
            func purge() async throws -> Int64? {
                if kind.description == StoreKind.postgresql.description {
                    try await fixture.store.write {
                        try $0.execute("UPDATE change_log SET slot = (slot + 3) % 6")
                    }
                }
                try await fixture.store.write { try ChangeLog($0).append(.user(UserID(UUID()))) }
                try await fixture.watch.poll()
                try await other.beat()
                try await fixture.housekeeping()
                return try await fixture.store.read { try $0.first(count)?.integer(0) }
            }
            #expect(try await purge() == 1)
            fixture.clock.advance(ClusterMemberRepository.logPatience + 1)
            // Other tests have transactions open on the same server, and each holds the log back.
            var left = try await purge()
            for _ in 0..<1200 where left != 0 {
                try await Task.sleep(for: .milliseconds(100))
                left = try await purge()
            }
            #expect(left == 0)
            try await watch.poll()
            await #expect(throws: Refusal(.sessionDestroyed, "")) {
                try await context.checkSession(text, on: connection)
            }
        }
    }

    @Test("A session that another node was shown is not taken for idle")
    func usedElsewhere() async throws {
        try await ServiceFixture.run { fixture in
            let connection = try await fixture.connectNewDevice()
            let opened = try await fixture.opened("alice", on: connection)
            let token = try #require(opened.token).text.reveal()
            let id = opened.session.id
            fixture.clock.advance(3000)
            try await fixture.store.write { try SessionRepository($0).recordUses([Session.Use(id: id, at: $0.now)]) }
            fixture.clock.advance(3000)
            #expect(try await fixture.context.introspect(token, for: fixture.backend()) != nil)
            _ = try await fixture.context.checkSession(token, on: connection)
            fixture.clock.advance(3600)
            await #expect(throws: Refusal(.sessionChallenged, "")) {
                try await fixture.context.checkSession(token, on: connection)
            }
        }
    }

    @Test(
        "Nodes that are asked for the revocation list at once after a revocation publish one", arguments: StoreKind.all)
    func revocationLists(kind: StoreKind) async throws {
        try await ServiceFixture.run(on: kind) { fixture in
            for _ in 0..<3 {
                let serial = try await fixture.certify(try fixture.request()).certificate.serial
                try await fixture.revokeCertificate.revoke(serial: serial, reason: .keyCompromise)
                let lists = try await withThrowingTaskGroup(of: [UInt8].self) { group in
                    for _ in 0..<8 { group.addTask { try await fixture.publish() } }
                    return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
                }
                #expect(lists.count == 1)
            }
        }
    }

    @Test("Three outbox loops send a hundred texts once each, also where writing down what was sent fails at first")
    func outbox() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try PhoneBench(fixture, rateLimiting: .off)
            let alice = try await bench.person("alice")
            for index in 0..<100 { try await bench.begin("+1415555\(2000 + index)", alice) }
            let faltering = FalteringStore(fixture.store)
            let loops = [bench.deliver, bench.loop(on: fixture.store), bench.loop(on: faltering)]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for deliver in loops { group.addTask { _ = try await deliver() } }
                try await group.waitForAll()
            }
            #expect(bench.texts.sent.count == 100)
            #expect(Set(bench.texts.sent.map(\.to)).count == 100)
            #expect(try await bench.fixture.admin.listOutbox(.sent, limit: 200).count == 100)
        }
    }
}

/// A store that is away for a moment, more than once.
private final class FalteringStore: Database {
    private let store: any Database
    private let writes = Mutex(0)

    init(_ store: any Database) { self.store = store }

    func read<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        try await store.read(body)
    }

    func write<T: Sendable>(_ body: @Sendable @escaping (any Transaction) throws -> T) async throws -> T {
        let number = writes.withLock { writes in
            writes += 1
            return writes
        }
        // The first one leases.
        guard ![2, 3, 5, 8].contains(number) else { throw StoreError.unavailable(reason: "away") }
        return try await store.write(body)
    }

    func tables() async throws -> [TableShape] { try await store.tables() }
    func changeStamp() throws -> Int64 { try store.changeStamp() }
    func check() async throws { try await store.check() }
    func close() async throws { try await store.close() }
}
