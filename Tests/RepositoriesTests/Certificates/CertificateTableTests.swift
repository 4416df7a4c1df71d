import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Tables certificates, devices, revoked_keys and revocation_counter")
struct CertificateTableTests {
    @Test("A certificate is read as it was written, by all its names", arguments: StoreKind.shared)
    func reading(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            var certificate = tables.certificate(2, replaces: "1")
            certificate.revoked = .init(at: TestTables.now, reason: "keyCompromise")
            try await tables.write { [certificate] in
                try CertificateRepository($0).insert(
                    certificate, subjectPublicKeyInfo: [7], authority: .of("authority"))
            }
            let found = try await tables.read { [certificate] transaction in
                let records = CertificateRepository(transaction)
                return try [
                    records.find(thumbprint: certificate.thumbprint), records.find(serial: "2"),
                    records.list(keyHash: certificate.keyHash).first,
                    records.list(deviceID: tables.device).first { $0.serial == "2" },
                    records.list(limit: 2).first { $0.serial == "2" },
                ]
            }
            #expect(found.allSatisfy { $0 == certificate })
            let (key, none, count) = try await tables.read {
                let records = CertificateRepository($0)
                return try (
                    records.subjectPublicKeyInfo(serial: "2"), records.find(serial: "3"), records.revocations()
                )
            }
            #expect(key == [7])
            #expect(none == nil)
            #expect(count == 1)
        }
    }

    @Test("The last end of an authority's certificates is of its own, revoked or not", arguments: StoreKind.shared)
    func authorities(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (former, now) = (Digest256.of("former authority"), TestTables.now)
            var revoked = tables.certificate(3, endsAfter: 20)
            revoked.revoked = .init(at: now, reason: "keyCompromise")
            try await tables.write { [revoked] transaction in
                let records = CertificateRepository(transaction)
                for certificate in [tables.certificate(2, endsAfter: 10), revoked] {
                    try records.insert(certificate, subjectPublicKeyInfo: [1], authority: former)
                }
                #expect(try records.authority(serial: "3") == former)
                #expect(try records.authority(serial: "9") == nil)
                #expect(try records.lastEnd(of: former, now: now) == revoked.notAfter)
                #expect(try records.lastEnd(of: former, now: now.addingTimeInterval(20)) == nil)
            }
        }
    }

    @Test(
        "No serial number and no thumbprint is issued twice, and none without its device", arguments: StoreKind.shared)
    func constraints(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let again = tables.certificate(1)
            await #expect(throws: StoreError.constraint(kind: .unique)) {
                try await tables.write {
                    try CertificateRepository($0).insert(again, subjectPublicKeyInfo: [1], authority: .of("authority"))
                }
            }
            await #expect(throws: StoreError.constraint(kind: .unique)) {
                try await tables.sql(
                    """
                    INSERT INTO certificates (thumbprint, serial, device_id, key_hash, subject_public_key_info,
                        authority, not_before, not_after, issued_at)
                    VALUES ($1, '1', $2, $1, $1, $1, 0, 0, 0)
                    """, [.bytes([9]), .id(tables.device)])
            }
            await #expect(throws: StoreError.constraint(kind: .foreignKey)) {
                try await tables.sql("DELETE FROM devices")
            }
        }
    }

    @Test("A revocation is counted once, and its key is certified no more", arguments: StoreKind.shared)
    func revocation(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let answers = try await tables.write { transaction in
                let records = CertificateRepository(transaction)
                let answers = try [
                    records.revoke(serial: "1", at: TestTables.now, reason: "superseded"),
                    records.revoke(serial: "1", at: TestTables.now, reason: "superseded"),
                    records.revoke(serial: "9", at: TestTables.now, reason: "superseded"),
                    records.compromise(serial: "1", at: TestTables.now.addingTimeInterval(9), reason: "keyCompromise"),
                    records.compromise(serial: "1", at: TestTables.now, reason: "keyCompromise"),
                ]
                return answers
            }
            #expect(answers == [true, false, false, true, false])
            let (listed, revoked, count) = try await tables.read {
                let records = CertificateRepository($0)
                return try (
                    records.listed(now: TestTables.now), records.listRevoked(now: TestTables.now), records.revocations()
                )
            }
            #expect(listed.map(\.serial) == ["1"])
            #expect(listed.first?.at == TestTables.now)
            #expect(listed.first?.reason == "keyCompromise")
            #expect(revoked.map(\.serial) == ["1"])
            #expect(count == 2)
        }
    }

    @Test("A renewal supersedes when it is first shown, unlisted if it has the same key", arguments: StoreKind.shared)
    func renewal(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (second, third) = (tables.certificate(2, replaces: "1"), tables.certificate(3, replaces: "1"))
            try await tables.write { transaction in
                let records = CertificateRepository(transaction)
                for certificate in [second, third] {
                    try records.insert(certificate, subjectPublicKeyInfo: [1], authority: .of("authority"))
                }
            }
            #expect(
                Set(try await tables.read { try CertificateRepository($0).listUnseenRenewals(of: "1") }) == ["2", "3"])
            let seen = try await tables.write { transaction in
                let records = CertificateRepository(transaction)
                let seen = try (
                    records.recordFirstSight(thumbprint: second.thumbprint, at: TestTables.now),
                    records.recordFirstSight(thumbprint: second.thumbprint, at: TestTables.now)
                )
                try records.supersede(serial: "1", at: TestTables.now, byTheSameKey: true)
                try records.unadmitRenewals(of: "1", at: TestTables.now)
                return seen
            }
            #expect(seen == (true, false))
            let (first, unseen, listed) = try await tables.read {
                let records = CertificateRepository($0)
                return try (records.find(serial: "1"), records.find(serial: "3"), records.listed(now: TestTables.now))
            }
            #expect(first?.revoked?.reason == "superseded")
            #expect(unseen?.isUnadmitted == true)
            #expect(listed.isEmpty)
            // It is still to be revoked, once.
            let revoked = try await tables.write { transaction in
                let records = CertificateRepository(transaction)
                return try (0..<2).map { _ in
                    try records.revoke(serial: "3", at: transaction.now, reason: "keyCompromise")
                }
            }
            #expect(revoked == [true, false])
            let now = try await tables.read { try CertificateRepository($0).listed(now: TestTables.now).map(\.serial) }
            #expect(now == ["3"])
        }
    }

    @Test("The revocation list's content comes in pages, each entry once", arguments: StoreKind.shared)
    func pages(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            try await tables.write { transaction in
                let records = CertificateRepository(transaction)
                for number in 2...8 {
                    try records.insert(
                        tables.certificate(number), subjectPublicKeyInfo: [1], authority: .of("authority"))
                    // Most of them at one moment.
                    let time = TestTables.now.addingTimeInterval(number == 5 ? -1 : 0)
                    _ = try records.revoke(serial: String(number), at: time, reason: "keyCompromise")
                }
            }
            let serials = try await tables.read { transaction in
                var (serials, mark) = ([[String]](), (at: Date, serial: String)?.none)
                for _ in 0..<4 {
                    let page = try CertificateRepository(transaction).listed(
                        now: TestTables.now, after: mark, limit: 3)
                    serials.append(page.map(\.serial))
                    guard let last = page.last else { break }
                    mark = (last.at, last.serial)
                }
                return serials
            }
            #expect(serials == [["5", "2", "3"], ["4", "6", "7"], ["8"], []])
        }
    }

    @Test(
        "Purging deletes what ran out, keeps what was never shown, and keeps revoked keys refused",
        arguments: StoreKind.shared)
    func purge(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (over, unseen) = (tables.certificate(2, endsAfter: -10), tables.certificate(3))
            let deleted = try await tables.write { transaction in
                let records = CertificateRepository(transaction)
                for certificate in [over, unseen] {
                    try records.insert(certificate, subjectPublicKeyInfo: [1], authority: .of("authority"))
                }
                _ = try records.revoke(serial: "2", at: TestTables.now, reason: "keyCompromise")
                _ = try records.recordFirstSight(thumbprint: .of("certificate 1"), at: TestTables.now)
                let upkeep = CertificateUpkeep(transaction)
                return try [
                    upkeep.purge(endedBefore: TestTables.now).rows,
                    upkeep.unadmit(issuedBefore: TestTables.now.addingTimeInterval(1)).rows,
                ]
            }
            #expect(deleted == [1, 1])
            let (left, keys, isRevoked) = try await tables.read { transaction in
                let upkeep = CertificateUpkeep(transaction)
                return try (
                    CertificateRepository(transaction).list(deviceID: tables.device).map(\.serial),
                    upkeep.revokedKeys(), [upkeep.isRevoked(over.keyHash), upkeep.isRevoked(unseen.keyHash)]
                )
            }
            #expect(Set(left) == ["1", "3"])
            let kept = try await tables.read { try CertificateRepository($0).find(serial: "3") }
            #expect(kept?.isUnadmitted == true)
            #expect(try await tables.read { try CertificateRepository($0).listed(now: TestTables.now).isEmpty })
            #expect(keys == [over.keyHash])
            #expect(isRevoked == [true, false])
            let last = try await tables.write {
                let upkeep = CertificateUpkeep($0)
                return try [
                    upkeep.unadmit(issuedBefore: TestTables.now.addingTimeInterval(1)).rows,
                    upkeep.purge(endedBefore: .distantFuture).rows,
                ]
            }
            #expect(last == [0, 2])
            #expect(try await tables.count("devices") == 0)
        }
    }

    @Test("A device id is taken once; lists count what is valid and open", arguments: StoreKind.shared)
    func devices(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (session, other) = (tables.session(1), DeviceID(UUID()))
            let taken = try await tables.write { transaction in
                try SessionRepository(transaction).insert(session, at: .first)
                let records = DeviceRepository(transaction)
                return try [
                    records.insert(tables.device, userAgent: nil, presenceKey: nil, at: TestTables.now),
                    records.insert(
                        other, userAgent: nil, presenceKey: "PEM", at: TestTables.now.addingTimeInterval(1)),
                ]
            }
            #expect(taken == [false, true])
            let (lines, keys, exist) = try await tables.read { transaction in
                let records = DeviceRepository(transaction)
                return try (
                    records.list(limit: 10), [records.presenceKey(of: tables.device), records.presenceKey(of: other)],
                    [records.exists(other), records.exists(DeviceID(UUID()))]
                )
            }
            #expect(lines.map(\.id) == [other, tables.device])
            #expect(lines.map(\.certificates) == [0, 1])
            #expect(lines.map(\.sessions) == [0, 1])
            #expect(lines.map(\.userAgent) == [nil, "Test"])
            #expect(keys == [nil, "PEM"])
            #expect(exist == [true, false])
        }
    }

    @Test("A row that this program never writes is damaged", arguments: StoreKind.shared)
    func damage(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            try await tables.sql("UPDATE certificates SET key_hash = subject_public_key_info")
            await #expect(throws: DamagedRow.self) {
                try await tables.read { try CertificateRepository($0).find(serial: "1") }
            }
        }
    }
}
