import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

/// What somebody with the store could do to the log.
@Suite("The audit log that was tampered with")
struct AuditTamperingTests {
    @Test("shows each byte of each column that is flipped in the store")
    func storedBytes() async throws {
        // By `rowid`, which this engine alone has; what is verified is the same on every engine.
        try await AuditTests.run(on: .sqlite) { store, clock, seal in
            for _ in 0..<2 {
                try await AuditTests.append(store, 2)
                try await seal(signingAll: true)
            }
            #expect(try await AuditTests.verify(store).defect == nil)
            var flips = 0
            let tables = [
                ("audit_entries", ["id", "at", "event", "subject", "actor", "detail", "reason", "sequence", "digest"]),
                ("audit_checkpoints", ["sequence", "token"]),
                ("audit_head", ["sequence", "digest", "signed"]),
            ]
            for (table, columns) in tables {
                for column in columns {
                    flips += try await Self.flipEach(column, of: table, in: store) { row async throws in
                        #expect(try await AuditTests.verify(store).defect != nil, "\(table).\(column), row \(row)")
                    }
                }
            }
            #expect(flips > 900)
            #expect(try await AuditTests.verify(store).defect == nil)
        }
    }

    @Test("shows entries that were deleted, moved, cut off with the head, or added behind it")
    func tampering() async throws {
        try await AuditTests.run { store, clock, seal in
            try await AuditTests.append(store, 5)
            try await seal(signingAll: true)
            try await AuditTests.append(store, 5)
            try await seal(signingAll: true)
            func expect(_ defect: AuditChain.Defect, _ statements: String...) async throws {
                let report = try await Self.tampered(store, statements)
                #expect(report.defect == defect, "\(statements)")
            }
            try await expect(.missing(3), "DELETE FROM audit_entries WHERE sequence = 3")
            try await expect(.truncated(after: 9, signed: 10), "DELETE FROM audit_entries WHERE sequence = 10")
            try await expect(
                .truncated(after: 7, signed: 10), "DELETE FROM audit_entries WHERE sequence > 7",
                """
                UPDATE audit_head SET sequence = 7, signed = 5,
                    digest = (SELECT digest FROM audit_entries WHERE sequence = 7) WHERE id = 1
                """)
            try await expect(
                .altered(2), "UPDATE audit_entries SET sequence = 99 WHERE sequence = 2",
                "UPDATE audit_entries SET sequence = 2 WHERE sequence = 4",
                "UPDATE audit_entries SET sequence = 4 WHERE sequence = 99")
            try await expect(
                .head(10),
                """
                INSERT INTO audit_entries (id, at, event, subject, actor, sequence, digest)
                SELECT 'forged', at, event, subject, actor, 11, digest FROM audit_entries WHERE sequence = 1
                """)
            try await expect(.checkpointMissing(5), "DELETE FROM audit_checkpoints WHERE sequence = 5")
            try await expect(.checkpointMissing(10), "DELETE FROM audit_checkpoints WHERE sequence = 10")
            try await expect(.truncated(after: 0, signed: 10), "DELETE FROM audit_head")
        }
    }

    @Test("knows by a checkpoint from elsewhere that entries and checkpoints were cut off together")
    func witness() async throws {
        try await AuditTests.run { store, clock, seal in
            try await AuditTests.append(store, 5)
            try await seal(signingAll: true)
            try await AuditTests.append(store, 5)
            try await seal(signingAll: true)
            let tokens = try await store.read { try AuditChainRepository($0).checkpoints(after: 0, through: .max) }
            let kept = try AuditCheckpoint(token: try #require(tokens.last?.token), keys: AuditTests.keys)
            #expect(try await AuditTests.verify(store, witness: kept).defect == nil)
            let report = try await Self.tampered(
                store,
                [
                    "DELETE FROM audit_entries WHERE sequence > 5", "DELETE FROM audit_checkpoints WHERE sequence > 5",
                    """
                    UPDATE audit_head SET sequence = 5, signed = 5,
                        digest = (SELECT digest FROM audit_entries WHERE sequence = 5) WHERE id = 1
                    """,
                ], witness: kept)
            #expect(report.defect == .truncated(after: 5, signed: 10))
        }
    }

    /// Verifies the store with statements carried out on a copy of it.
    private static func tampered(
        _ store: any Database, _ statements: [String], witness: AuditCheckpoint? = nil
    ) async throws -> VerifyAudit.Report {
        try await withStore(migrations: Schema.migrations) { copy in
            for (table, columns) in [
                ("audit_entries", "id, at, event, subject, actor, detail, reason, sequence, digest"),
                ("audit_checkpoints", "sequence, token"),
                ("audit_head", "id, sequence, digest, signed, signed_at, holder, leased_until"),
            ] {
                let rows = try await store.read { try $0.query("SELECT \(columns) FROM \(table)") }
                try await copy.write { transaction in
                    try transaction.execute("DELETE FROM \(table)")
                    for row in rows {
                        let places = (1...row.values.count).map { "$\($0)" }.joined(separator: ", ")
                        try transaction.execute("INSERT INTO \(table) (\(columns)) VALUES (\(places))", row.values)
                    }
                }
            }
            try await copy.write { transaction in for sql in statements { try transaction.execute(sql) } }
            return try await AuditTests.verify(copy, witness: witness)
        }
    }

    /// Flips the lowest bit of each byte of a column, row after row, and puts it back.
    private static func flipEach(
        _ column: String, of table: String, in store: any Database, _ body: (Int64) async throws -> Void
    ) async throws -> Int {
        let rows = try await store.read { try $0.query("SELECT rowid, \(column) FROM \(table)") }
        var flips = 0
        for row in rows {
            let number = try row.integer(0)
            for flipped in flipped(try row.value(1)) {
                func set(_ value: Value) async throws {
                    try await store.write {
                        try $0.execute(
                            "UPDATE \(table) SET \(column) = $1 WHERE rowid = $2", [value, .integer(number)])
                    }
                }
                do {
                    try await set(flipped)
                } catch StoreError.constraint {
                    // The schema itself does not take it.
                    continue
                }
                flips += 1
                try await body(number)
                try await set(try row.value(1))
            }
        }
        return flips
    }

    private static func flipped(_ value: Value) -> [Value] {
        switch value {
        case .integer(let number): (0..<8).map { .integer(number ^ (1 << Int64($0 * 8))) }
        case .text(let text):
            text.utf8.indices.enumerated().map { index, _ in
                var bytes = Array(text.utf8)
                bytes[index] ^= 1
                return .text(String(decoding: bytes, as: UTF8.self))
            }
        case .bytes(let bytes):
            bytes.indices.map { index in
                var changed = bytes
                changed[index] ^= 1
                return .bytes(changed)
            }
        case .null, .real: []
        }
    }
}
