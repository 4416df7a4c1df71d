import Crypto
import Database
import Domain
import Fixtures
import Operations
import Repositories
import Testing

@Suite("A node and the keys that a rotation removed")
struct RemovedKeyTests {
    @Test("forgets them, also if it had read the newest key before", arguments: StoreKind.all)
    func removed(kind: StoreKind) async throws {
        try await withStore(kind, migrations: Schema.migrations) { store in
            let (first, second) = (SymmetricKey(size: .bits256), SymmetricKey(size: .bits256))
            let pruned = try PersonalKeys.Versions(wrapping: [2: second], index: [1: first])
            let keys = PersonalKeys(
                try .init(wrapping: [1: first, 2: second], index: [1: first]), readAgain: { pruned })
            try await store.write { transaction in
                _ = try DataKeyRepository(transaction, keys: keys).putInForce(1)
            }
            let node = AnnounceNode(
                store: store, keys: keys, host: "web-1", version: "1", environment: Environment(),
                fingerprints: { NodeFingerprints(items: [.wrappingKeys: keys.wrappingFingerprints], policies: [:]) },
                readAgain: { try? keys.reload() })
            #expect(try await node.join(allowsOtherPolicies: false) == .agreed)
            // No version is older than the one in force, so nothing can have been removed.
            #expect(try await node.beat().isEmpty && keys.wrappingFingerprints.keys.sorted() == [1, 2])
            try await store.write { transaction in
                _ = try DataKeyRepository(transaction, keys: keys).putInForce(2)
            }
            #expect(try await node.beat().isEmpty && keys.wrappingFingerprints.keys.sorted() == [2])
            let seen = try await store.read { try ClusterMemberRepository($0).live() }
            #expect(seen.map { $0.fingerprints.items[.wrappingKeys]?.keys.sorted() } == [[2]])
        }
    }
}
