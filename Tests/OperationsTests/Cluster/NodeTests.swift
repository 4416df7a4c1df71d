import Authority
import Crypto
import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Operations
import Repositories
import Synchronization
import Testing

/// Several nodes on one store, as far as one process can show it.
@Suite("Nodes on one store")
struct NodeTests {
    private struct Bench: Sendable {
        let store: any Database
        let clock: ServiceFixture.Clock
        let keys: PersonalKeys

        func node(_ nonceKey: String = "nonce", phones: String = "phones") -> AnnounceNode {
            let fingerprints = NodeFingerprints(
                items: [.nonceKey: [1: Digest256.of(nonceKey)], .wrappingKeys: keys.wrappingFingerprints],
                policies: ["phones.yaml": Digest256.of(phones)])
            return AnnounceNode(
                store: store, keys: keys, host: "web-1", version: "1", environment: Environment(),
                fingerprints: { fingerprints })
        }

        func live() async throws -> [ClusterMember] { try await store.read { try ClusterMemberRepository($0).live() } }
    }

    private static func bench(_ kind: StoreKind, _ body: (Bench) async throws -> Void) async throws {
        let clock = ServiceFixture.Clock()
        let now: @Sendable () -> Date = { clock.now }
        try await withStore(kind, migrations: Schema.migrations, clock: now) { store in
            let key = SymmetricKey(size: .bits256)
            try await body(
                Bench(store: store, clock: clock, keys: try PersonalKeys(wrapping: [1: key], index: [1: key])))
        }
    }

    @Test("Nodes that agree come in, are seen, and go", arguments: StoreKind.all)
    func agreeing(kind: StoreKind) async throws {
        try await Self.bench(kind) { bench in
            let (first, second) = (bench.node(), bench.node())
            #expect(try await first.join(allowsOtherPolicies: false) == .agreed)
            bench.clock.advance(2)
            #expect(try await second.join(allowsOtherPolicies: false) == .agreed)
            let live = try await bench.live()
            #expect(live.map(\.id) == [first.id, second.id])
            #expect(live[0].host == "web-1" && live[0].startedAt == live[1].startedAt - 2)
            bench.clock.advance(14)
            #expect(try await second.beat() == [])
            #expect(try await bench.live().map(\.id) == [second.id])
            // One that was cut off is there again, with the start it had.
            #expect(try await first.beat() == [])
            #expect(try await bench.live().first?.startedAt == live[0].startedAt)
            try await second.leave()
            #expect(try await bench.live().map(\.id) == [first.id])
        }
    }

    @Test(
        "A node with another key is refused as soon as the other is seen, and comes in once that one is gone",
        arguments: StoreKind.all)
    func refused(kind: StoreKind) async throws {
        try await Self.bench(kind) { bench in
            let (first, second) = (bench.node(), bench.node("another"))
            #expect(try await first.join(allowsOtherPolicies: true) == .agreed)
            let verdict = try await second.join(allowsOtherPolicies: true) { _ in
                bench.clock.advance(1)
                Task { try await first.beat() }
            }
            guard case .refused(let disagreement) = verdict else {
                Issue.record("it came in")
                return
            }
            #expect(disagreement.differences == [.shared(.nonceKey)] && disagreement.node.id == first.id)
            #expect(try await bench.live().map(\.id) == [first.id])
            try await first.leave()
            #expect(try await second.join(allowsOtherPolicies: false) == .agreed)
        }
    }

    @Test("With other keys than the store was written with no node comes in, not even alone", arguments: StoreKind.all)
    func otherKeys(kind: StoreKind) async throws {
        try await Self.bench(kind) { bench in
            let first = SymmetricKey(size: .bits256)
            func node(_ keys: [Int: SymmetricKey], index: SymmetricKey) throws -> AnnounceNode {
                let keys = try PersonalKeys(wrapping: keys, index: [1: index])
                let fingerprints = NodeFingerprints(
                    items: [.wrappingKeys: keys.wrappingFingerprints, .blindIndexKeys: keys.indexFingerprints],
                    policies: [:])
                return AnnounceNode(
                    store: bench.store, keys: keys, host: "web-1", version: "1", environment: Environment(),
                    fingerprints: { fingerprints })
            }
            func verdict(_ keys: [Int: SymmetricKey], index: SymmetricKey) async throws -> NodeAgreement {
                let node = try node(keys, index: index)
                let verdict = try await node.join(allowsOtherPolicies: false)
                try await node.leave()
                return verdict
            }
            let other = SymmetricKey(size: .bits256)
            let verdicts = [
                try await verdict([1: first], index: first), try await verdict([1: other], index: first),
                try await verdict([1: first], index: other),
                // A version that was added is recorded from its first start on.
                try await verdict([1: first, 2: first], index: first),
                try await verdict([1: first, 2: other], index: first), try await verdict([1: first], index: first),
            ]
            #expect(
                verdicts == [
                    .agreed, .otherKeys([.wrappingKeys]), .otherKeys([.blindIndexKeys]), .agreed,
                    .otherKeys([.wrappingKeys]), .agreed,
                ])
        }
    }

    @Test("A node that died is waited for until it does not count", arguments: StoreKind.all)
    func dead(kind: StoreKind) async throws {
        try await Self.bench(kind) { bench in
            #expect(try await bench.node().join(allowsOtherPolicies: false) == .agreed)
            let waits = Mutex(0)
            let verdict = try await bench.node("another").join(allowsOtherPolicies: false) { _ in
                waits.withLock { $0 += 1 }
                bench.clock.advance(ClusterMember.patience)
            }
            #expect(verdict == .agreed && waits.withLock { $0 } == 1)
        }
    }

    @Test("Other policies are refused, taken where allowed, and told to both from then on", arguments: StoreKind.all)
    func policies(kind: StoreKind) async throws {
        try await Self.bench(kind) { bench in
            let (first, second) = (bench.node(), bench.node(phones: "changed"))
            #expect(try await first.join(allowsOtherPolicies: false) == .agreed)
            #expect(try await second.join(allowsOtherPolicies: true) == .agreed)
            for node in [first, second] {
                #expect(try await node.beat().map(\.differences) == [[.policy("phones.yaml")]])
            }
            let summary = try await ReportStatus(store: bench.store, policy: SessionPolicy())()
            #expect(
                summary.nodes.map { $0.differingPolicies(among: summary.nodes) } == [["phones.yaml"], ["phones.yaml"]])
        }
    }

    @Test("Of nodes that come at once and do not agree one is in", arguments: StoreKind.all)
    func atOnce(kind: StoreKind) async throws {
        try await Self.bench(kind) { bench in
            let nodes = (0..<6).map { bench.node("key \($0)") }
            let verdicts = try await withThrowingTaskGroup(of: NodeAgreement.self) { group in
                for node in nodes {
                    group.addTask {
                        try await node.join(allowsOtherPolicies: false) { disagreement in
                            // Whoever came first says that it lives.
                            bench.clock.advance(0.001)
                            Task { try await nodes.first { $0.id == disagreement.node.id }?.beat() }
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(verdicts.count { $0 == .agreed } == 1)
            #expect(try await bench.live().count == 1)
        }
    }

    @Test(
        "A node reads its keys again where another has a newer version, and where the store has one in force",
        arguments: StoreKind.all)
    func newerVersion(kind: StoreKind) async throws {
        try await Self.bench(kind) { bench in
            let versions = Mutex([1])
            let reads = Mutex(0)
            let node = AnnounceNode(
                store: bench.store, keys: bench.keys, host: "web-2", version: "1", environment: Environment(),
                fingerprints: {
                    let digests = versions.withLock { $0 }.map { ($0, Digest256.of("\($0)")) }
                    return NodeFingerprints(
                        items: [.blindIndexKeys: Dictionary(uniqueKeysWithValues: digests)], policies: [:])
                },
                readAgain: {
                    reads.withLock { $0 += 1 }
                    versions.withLock { $0 = [1, 2] }
                })
            #expect(try await node.join(allowsOtherPolicies: false) == .agreed)
            #expect(try await node.beat() == [] && reads.withLock { $0 } == 0)
            let ahead = NodeFingerprints(
                items: [.blindIndexKeys: [1: Digest256.of("1"), 2: Digest256.of("2")]], policies: [:])
            let now = bench.clock.now
            try await bench.store.write {
                try ClusterMemberRepository($0).write(
                    NodeID(UUID()), host: "web-1", version: "2", startedAt: now, ahead)
            }
            #expect(try await node.beat() == [] && reads.withLock { $0 } == 1)
            #expect(try await node.beat() == [] && reads.withLock { $0 } == 1)
            let keys = bench.keys
            try await bench.store.write { transaction in
                _ = try DataKeyRepository(transaction, keys: keys).putInForce(2)
            }
            #expect(try await node.beat() == [] && reads.withLock { $0 } == 2)
            #expect(try await bench.node().join(allowsOtherPolicies: false) == .behind(versionInForce: 2))
        }
    }

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
            for _ in 0..<300 where left != 0 {
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
            try await fixture.store.write { try SessionRepository($0).recordUses([SessionUse(id: id, at: $0.now)]) }
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
