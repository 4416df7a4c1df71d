import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Table nodes")
struct ClusterMemberTableTests {
    private static let fingerprints = NodeFingerprints(
        items: [.wrappingKeys: [1: .of("a"), 2: .of("b")]], policies: ["phone.yaml": .of("c")])

    @Test("A node is one row, live while it is seen, and gone when it ends", arguments: StoreKind.shared)
    func nodes(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (first, second) = (NodeID(UUID()), NodeID(UUID()))
            try await tables.write { transaction in
                let records = ClusterMemberRepository(transaction)
                for node in [first, second, first] {
                    try records.write(
                        node, host: "host", version: "1.0",
                        startedAt: TestTables.now.addingTimeInterval(node == first ? 0 : -5), Self.fingerprints)
                }
            }
            let live = try await tables.read { try ClusterMemberRepository($0).live() }
            #expect(live.map(\.id) == [second, first])
            #expect(live.last?.fingerprints == Self.fingerprints)
            #expect(live.last?.host == "host")
            #expect(live.last?.seenAt == TestTables.now)
            #expect(try await tables.read { try ClusterMemberRepository($0).positions().isEmpty })
            try await tables.sql("UPDATE nodes SET fingerprints = 'x'")
            await #expect(throws: DamagedRow.self) { try await tables.read { try ClusterMemberRepository($0).live() } }
            try await tables.sql("UPDATE nodes SET seen_at = 0 WHERE id = $1", [.id(first)])
            try await tables.write { transaction in
                try ClusterMemberRepository(transaction).purge(unseenSince: TestTables.now)
            }
            #expect(try await tables.count("nodes") == 1)
            try await tables.write { try ClusterMemberRepository($0).remove(second) }
            #expect(try await tables.count("nodes") == 0)
        }
    }
}

@Suite("Table key_fingerprints")
struct KeyFingerprintTableTests {
    @Test("The digest of a key's version is recorded once, of what personal data needs", arguments: StoreKind.shared)
    func once(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let first = NodeFingerprints(
                items: [.wrappingKeys: [1: .of("a")], .blindIndexKeys: [1: .of("b")], .serviceKey: [1: .of("c")]],
                policies: ["phone.yaml": .of("d")])
            let later = NodeFingerprints(items: [.wrappingKeys: [1: .of("x"), 2: .of("e")]], policies: [:])
            for fingerprints in [first, later] {
                try await tables.write { try KeyFingerprintRepository($0).add(fingerprints) }
            }
            let found = try await tables.read { try KeyFingerprintRepository($0).list() }
            #expect(found.items == [.wrappingKeys: [1: .of("a"), 2: .of("e")], .blindIndexKeys: [1: .of("b")]])
        }
    }
}

@Suite("Table change_log")
struct ChangeTableTests {
    private static let changes: [ChangeLog.Change] = [
        .session(.of("token")), .user(UserID(UUID())), .bannedUser(UserID(UUID())), .device(DeviceID(UUID())),
        .provider(ProviderID(UUID())), .providerKeys(ProviderID(UUID())), .providerKey(ProviderKeyID(UUID())),
        .messages([UserID(UUID()), UserID(UUID())]),
        .typing(MessageStreamID(UUID()), UserID(UUID()), [UserID(UUID()), UserID(UUID())]),
        .presence([UserID(UUID()), UserID(UUID())]),
    ]

    @Test("Every change is read as it was written, and what no version knows is left out", arguments: StoreKind.shared)
    func changes(kind: StoreKind) async throws {
        try await withStore(kind, migrations: Schema.migrations) { store in
            let start = try await store.changePosition()
            try await store.write { transaction in
                for change in Self.changes { try ChangeLog(transaction).append(change) }
                try transaction.appendChange(kind: 30_000, key: [1])
                // A key that is none.
                for kind in 1...7 { try transaction.appendChange(kind: kind, key: [1]) }
            }
            let logged = try await store.changes(after: start, limit: 100).changes
            #expect(logged.count == Self.changes.count + 8)
            #expect(logged.compactMap(ChangeLog.Change.init) == Self.changes)
            #expect(Set(logged.prefix(Self.changes.count).map(\.kind)).count == Self.changes.count)
        }
    }

    @Test("No table but the log's holds numbers of its server, which mean nothing on the one that a dump is moved to")
    func numbers() async throws {
        try await withStore(.postgresql, migrations: Schema.migrations) { store in
            let tables = try await store.read { transaction in
                try transaction.query(
                    """
                    SELECT DISTINCT CAST(table_name AS TEXT) FROM information_schema.columns
                    WHERE table_schema = current_schema()
                        AND udt_name IN ('xid', 'xid8', 'pg_snapshot', 'txid_snapshot', 'pg_lsn', 'oid')
                    """
                ).map { try $0.text(0) }
            }
            #expect(!tables.isEmpty && tables.allSatisfy { $0.hasPrefix("change_log") }, "\(tables)")
        }
    }
}
