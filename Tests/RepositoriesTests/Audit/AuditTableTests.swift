import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Tables audit_entries, audit_head, audit_checkpoints and audit_anchors")
struct AuditTableTests {
    private static func append(_ count: Int, in transaction: any Transaction) throws {
        for number in 0..<count {
            try AuditRepository(transaction).append(
                .sessionEnded, subject: AuditSubject(.session, number), actor: "service",
                detail: number == 0 ? nil : "\(number)",
                reason: "test", id: UUID())
        }
    }

    /// Chains all entries.
    private static func chain(in transaction: any Transaction) throws -> AuditChain {
        let records = AuditChainRepository(transaction)
        var chain = try records.head().chain
        let links = try records.unchained(limit: 100).map { chain.append($0) }
        try records.write(links, head: chain)
        return chain
    }

    private static func checkpoint(_ chain: AuditChain, previous: Int64) -> AuditCheckpoint {
        AuditCheckpoint(sequence: chain.sequence, digest: chain.digest, previous: previous, at: TestTables.now)
    }

    @Test("Entries get their places once, and are read with them", arguments: StoreKind.shared)
    func chaining(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let counts = try await tables.write { transaction in
                let records = AuditChainRepository(transaction)
                try Self.append(3, in: transaction)
                let before = (try records.hasUnchained(), try records.countUnchained())
                let latest = try records.unchainedLatest(limit: 2).count
                let chain = try Self.chain(in: transaction)
                return (before, latest, chain, try records.countUnchained())
            }
            #expect(counts.0 == (true, 3))
            #expect(counts.1 == 2)
            #expect(counts.3 == 0)
            let (head, links, page, stray) = try await tables.read {
                let records = AuditChainRepository($0)
                return try (
                    records.head(), records.links(after: 0, through: 9, limit: 9),
                    records.links(after: 1, through: 2, limit: 9), records.countStray(behind: 2)
                )
            }
            #expect(head.chain == counts.2)
            #expect(head.signedAt == Date(timeIntervalSince1970: 0))
            #expect(links.map(\.sequence) == [1, 2, 3])
            #expect(links.last?.link?.digest == counts.2.digest)
            #expect(links.first?.link?.entry.reason == "test")
            #expect(page.map(\.sequence) == [2])
            #expect(stray == 1)
            let again = try #require(links.first?.link)
            await #expect(throws: DamagedRow.self) {
                try await tables.write { try AuditChainRepository($0).write([again], head: head.chain) }
            }
        }
    }

    @Test("One sealer holds the lease until it ends or is given back", arguments: StoreKind.shared)
    func leasing(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let leases = try await tables.write { transaction in
                let records = AuditChainRepository(transaction)
                var leases = try [records.lease(to: "a", for: 10), records.lease(to: "b", for: 10)]
                leases.append(try records.lease(to: "a", for: 10))
                try records.release("b")
                leases.append(try records.lease(to: "b", for: 10))
                try records.release("a")
                leases.append(try records.lease(to: "b", for: -1))
                leases.append(try records.lease(to: "c", for: 10))
                return leases.map { $0 != nil }
            }
            #expect(leases == [true, false, true, false, true, true])
        }
    }

    @Test("A checkpoint follows the one before it, an anchor takes the entries with it", arguments: StoreKind.shared)
    func signing(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let filed = try await tables.write { transaction in
                let records = AuditChainRepository(transaction)
                try Self.append(3, in: transaction)
                let first = try Self.chain(in: transaction)
                let answers = try [
                    records.file(Self.checkpoint(first, previous: 1), token: "wrong"),
                    records.file(Self.checkpoint(first, previous: 0), token: "first"),
                ]
                try Self.append(1, in: transaction)
                let second = try Self.chain(in: transaction)
                return try answers + [records.file(Self.checkpoint(second, previous: 3), token: "second")]
            }
            #expect(filed == [false, true, true])
            let anchor = AuditAnchor(sequence: 3, digest: .of("digest"), at: TestTables.now)
            let unsigned = AuditAnchor(sequence: 5, digest: .of("digest"), at: TestTables.now)
            let (before, anchored, deleted) = try await tables.write { transaction in
                let records = AuditAnchorRepository(transaction)
                let before = try records.current() == nil
                let anchored = try [
                    records.file(unsigned, token: "none"), records.file(anchor, token: "anchor"),
                    records.file(anchor, token: "again"),
                ]
                return (
                    before, anchored,
                    try (0..<2).map { _ in
                        try records.deleteCovered(MaintenanceBatch(limit: 2)).rows
                    }
                )
            }
            #expect(before)
            #expect(anchored == [false, true, false])
            #expect(deleted == [2, 1])
            try await tables.sql("UPDATE audit_checkpoints SET token = 'changed'")
            let (current, checkpoints, last) = try await tables.read { transaction in
                let (anchors, chain) = (AuditAnchorRepository(transaction), AuditChainRepository(transaction))
                return try (
                    anchors.current(),
                    [anchors.checkpoints(after: 0, limit: 9), chain.checkpoints(after: 0, through: 9)],
                    chain.lastCheckpoint()
                )
            }
            #expect(current?.sequence == 3 && current?.token == "anchor")
            #expect(checkpoints.map { $0.map(\.sequence) } == [[4], [4]])
            #expect(checkpoints.map { $0.map(\.token) } == [["changed"], ["changed"]])
            #expect(last == 4)
        }
    }

    @Test("A place is given once; an entry that is damaged keeps its number", arguments: StoreKind.shared)
    func damage(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            try await tables.write { transaction in
                try Self.append(2, in: transaction)
                _ = try Self.chain(in: transaction)
            }
            await #expect(throws: StoreError.constraint(kind: .unique)) {
                try await tables.sql("UPDATE audit_entries SET sequence = 1")
            }
            await #expect(throws: StoreError.constraint(kind: .check)) {
                try await tables.sql("UPDATE audit_entries SET digest = NULL")
            }
            try await tables.sql("UPDATE audit_entries SET digest = $1 WHERE sequence = 2", [.bytes([1])])
            let links = try await tables.read {
                try AuditChainRepository($0).links(after: 0, through: 9, limit: 9)
            }
            #expect(links.map(\.sequence) == [1, 2])
            #expect(links.map { $0.link == nil } == [false, true])
        }
    }
}
