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
}
