import Database
import Domain
import Fixtures
import Foundation
import Testing

@testable import Repositories

/// The keys of streams.
extension StreamTableTests {
    @Test("Keys are wrapped anew under the newest version and still open", arguments: StoreKind.shared)
    func rotation(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let old = try SealedStore.keys(wrapping: [1])
            var made: [MessageStreamID] = []
            for _ in 0..<3 {
                let stream = MessageStream(
                    id: MessageStreamID(UUID()), providerID: tables.provider, kind: .forum, createdBy: tables.user,
                    createdAt: TestTables.now)
                made.append(stream.id)
                try await tables.write { transaction in
                    let (key, wrapped, version) = try StreamKeyRepository(transaction, keys: old).generate(
                        for: stream.id)
                    _ = try MessageStreamRepository(transaction).insert(
                        stream, wrapped: wrapped, version: version,
                        opening: try key.seal("old", in: .streamOpening), metadata: nil)
                }
            }
            let (counts, steps) = try await tables.write { transaction in
                let keys = StreamKeyRepository(transaction, keys: tables.keys)
                let before = try keys.countByVersion()
                let first = try keys.rewrap(after: nil, limit: 2)
                let second = try keys.rewrap(after: first.mark, limit: 2)
                return ([before, try keys.countByVersion()], [first.wrapped, second.wrapped, second.unreadable])
            }
            #expect(counts == [[1: 3], [2: 3]] && steps == [2, 1, 0])
            let opened = try await tables.read { [made] transaction in
                try made.map { id in
                    let key = try StreamKeyRepository(transaction, keys: tables.keys).find(id)
                    let sealed = try MessageStreamRepository(transaction).sealed(of: id).opening
                    return try sealed.flatMap { try key?.open($0, in: .streamOpening) }
                }
            }
            #expect(opened == ["old", "old", "old"])
        }
    }
}
