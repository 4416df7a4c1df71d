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

@Suite("Tables changes and change_counter")
struct ChangeTableTests {
    @Test("No two changes have one number, and there is one counter", arguments: StoreKind.shared)
    func numbers(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            #expect(try await tables.read { try ChangeLog($0).last() } == 0)
            let insert = "INSERT INTO changes (sequence, kind, key, at) VALUES (1, 'user', 'x', 0)"
            try await tables.sql(insert)
            await #expect(throws: StoreError.constraint(kind: .unique)) { try await tables.sql(insert) }
            await #expect(throws: StoreError.constraint(kind: .unique)) {
                try await tables.sql("INSERT INTO change_counter (id, value) VALUES (1, 0)")
            }
            try await tables.write { try ChangeLog($0).purge(before: TestTables.now) }
            #expect(try await tables.count("changes") == 0)
        }
    }
}
