import Crypto
import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

/// Copies of stores that somebody still uses, or that another build made.
@Suite("Copying a store that is served, or behind")
struct ServedCopyTests {
    @Test(
        "A store that nodes serve is not put away, unless they may be cut off; their look at it says that it was moved")
    func served() async throws {
        for way in CopyStoreTests.ways.prefix(2) {
            try await CopyStoreTests.withStores(way) { source, target in
                let key = SymmetricKey(size: .bits256)
                let keys = try PersonalKeys(wrapping: [1: key], index: [1: key])
                let node = AnnounceNode(
                    store: source, keys: keys, host: "web-1", version: "1", environment: Environment(),
                    fingerprints: { NodeFingerprints(items: [:], policies: [:]) })
                #expect(try await node.join(allowsOtherPolicies: false) == .agreed)
                #expect(try await CopyStoreTests.copier(source, target)(isFinal: false).isEqual)
                let refusal = await #expect(throws: Refusal(.conflict, "", reason: .nodesLive)) {
                    _ = try await CopyStoreTests.copier(source, target)(isFinal: true)
                }
                #expect(refusal?.detail.contains("web-1") == true)
                #expect(try await source.availability() == .usable)
                #expect(try await CopyStoreTests.copier(source, target)(isFinal: true, cutsNodes: true).isFinished)
                await #expect(throws: Refusal(.unavailable, "", reason: .storeMoved)) { try await node.beat() }
                let policy = CurrentPolicy(Policy())
                let watch = CacheInvalidator(
                    store: source, node: ServingNode(caches: Caches(store: source)), policy: policy,
                    environment: Environment(now: CopyStoreTests.clock))
                await #expect(throws: StoreError.notUsable(.moved(to: "postgresql://new/x"))) {
                    try await watch.run { _ in }
                }
            }
        }
    }

    @Test("A source of an older schema is not migrated by being copied")
    func behind() async throws {
        try await withStore(.sqlite, migrations: Schema.migrations) { source in
            try await CopyStoreTests.withTarget(.sqlite) { target in
                let before = try await source.currentMigration()
                await #expect(throws: Refusal(.conflict, "")) {
                    _ = try await CopyStoreTests.copier(source, target)(isFinal: false)
                }
                #expect(try await source.currentMigration() == before)
            }
        }
    }
}
