import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Tables bans and ban_holds")
struct BanTableTests {
    private static func ban(
        _ kind: Ban.SubjectKind = .user, endsAfter seconds: TimeInterval? = nil, age: TimeInterval = 0
    )
        throws -> Ban
    {
        Ban(
            id: BanID(UUID()), kind: kind, scope: .all, reason: try #require(Ban.Reason(rawValue: "spam")),
            actor: "admin x", createdAt: TestTables.now.addingTimeInterval(-age),
            endsAt: seconds.map { TestTables.now.addingTimeInterval($0) }, lifted: nil)
    }

    private static func entry(_ ban: Ban, _ subject: BanEntry.Subject, _ origin: BanEntry.Origin = .direct) -> BanEntry
    {
        let isIndexed =
            switch subject {
            case .phone, .document: true
            default: false
            }
        return BanEntry(
            ban: ban, subject: subject, origin: origin, endsAt: ban.endsAt, indexVersion: isIndexed ? 1 : nil)
    }

    @Test("A ban is read as it was written with all that it names, and lifted once", arguments: StoreKind.shared)
    func reading(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let ban = try Self.ban(endsAfter: 60)
            let entries = [
                Self.entry(ban, .user(tables.user)), Self.entry(ban, .phone(.of("number")), .derived),
                Self.entry(ban, .document(.of("document")), .derived),
                Self.entry(ban, .device(tables.device), .holder),
                Self.entry(ban, .deviceKey(.of("key")), .holder),
            ]
            try await tables.write { transaction in
                let records = BanRepository(transaction)
                try records.insert(ban)
                for entry in entries + entries { try records.insert(entry) }
            }
            let (found, listed) = try await tables.read {
                (try BanRepository($0).find(ban.id), try BanRepository($0).entries(of: ban.id))
            }
            #expect(found == ban)
            #expect(listed.count == 5)
            #expect(entries.allSatisfy(listed.contains))
            #expect(listed.first == entries[0])
            let lifted = try await tables.write { transaction in
                try [1, 2].map { _ in try BanRepository(transaction).lift(ban.id, by: "admin y") }
            }
            #expect(lifted == [true, false])
            let after = try await tables.read { try BanRepository($0).find(ban.id) }
            #expect(after?.lifted == .init(at: TestTables.now, actor: "admin y"))
        }
    }

    @Test("What is in force on a user is found by id, number and document", arguments: StoreKind.shared)
    func force(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let keys = tables.keys
            let index = keys.phoneIndex("+14155552671")
            let (user, phone, over) = (try Self.ban(), try Self.ban(.phone), try Self.ban(endsAfter: -1, age: 60))
            try await tables.write { transaction in
                _ = try AuthenticatedUserRepository(transaction, keys: keys).phoneProven(
                    tables.person(tables.user, "ada"), "+14155552671", at: TestTables.now)
                let records = BanRepository(transaction)
                for ban in [user, phone, over] { try records.insert(ban) }
                try records.insert(Self.entry(user, .user(tables.user)))
                try records.insert(Self.entry(phone, .phone(index)))
                try records.insert(Self.entry(over, .user(tables.user)))
            }
            let (force, all, versions, isOut, active) = try await tables.read { transaction in
                let records = BanRepository(transaction)
                return try (
                    records.holdsInForce(on: tables.user).map(\.ban.id),
                    records.entries(on: [.user(tables.user), .phone(.of("x"))]).map(\.ban.id),
                    records.indexVersions(.phone),
                    [records.isOutOfReach(.phone, of: [1]), records.isOutOfReach(.phone, of: [2])],
                    [records.list(isActive: true, limit: 9), records.list(isActive: false, limit: 2)].map {
                        $0.map(\.id)
                    }
                )
            }
            #expect(Set(force) == [user.id, phone.id])
            #expect(all == [user.id, over.id])
            #expect(versions == [1])
            #expect(isOut == [false, true])
            #expect(Set(active[0]) == [user.id, phone.id])
            #expect(active[1].count == 2)
        }
    }

    @Test("Versions of entries in force are found between those of others", arguments: StoreKind.shared)
    func versions(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            try await tables.write { transaction in
                let records = BanRepository(transaction)
                for (version, ending) in [(1, -1), (1, 60), (2, -1), (3, nil), (3, 60), (7, 60)] as [(Int, Double?)] {
                    let ban = try Self.ban(.phone, endsAfter: ending)
                    try records.insert(ban)
                    try records.insert(
                        BanEntry(
                            ban: ban, subject: .phone(.of("\(ban.id)")), origin: .direct, endsAt: ban.endsAt,
                            indexVersion: version))
                }
                let lifted = try Self.ban(.phone)
                try records.insert(lifted)
                try records.insert(
                    BanEntry(
                        ban: lifted, subject: .phone(.of("lifted")), origin: .direct, endsAt: nil, indexVersion: 9))
                _ = try records.lift(lifted.id, by: "admin y")
            }
            let (phones, documents, isOut) = try await tables.read { transaction in
                let records = BanRepository(transaction)
                return try (
                    records.indexVersions(.phone), records.indexVersions(.document),
                    [[1, 3, 7], [1, 2, 3], [1, 2, 3, 7, 9]].map { try records.isOutOfReach(.phone, of: $0) }
                )
            }
            #expect(phones == [1, 3, 7])
            #expect(documents.isEmpty)
            #expect(isOut == [false, true, false])
        }
    }

    @Test("Notes are sealed, wrapped anew and counted", arguments: StoreKind.shared)
    func notes(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (old, ban, other) = (try SealedStore.keys(wrapping: [1]), try Self.ban(), try Self.ban())
            let rewrapped = try await tables.write { [keys = tables.keys] transaction in
                for ban in [ban, other] { try BanRepository(transaction).insert(ban) }
                let records = BanMaintenance(transaction)
                try records.setNote("found", .note, of: ban.id, keys: old)
                try records.setNote("mistake", .liftNote, of: ban.id, keys: old)
                let before = try records.countByVersion()
                return (before, try records.rewrap(limit: 5, keys: keys), try records.countByVersion())
            }
            #expect(rewrapped.0 == [1: 2])
            #expect(rewrapped.1 == 2)
            #expect(rewrapped.2 == [2: 2])
            let notes = try await tables.read { [keys = tables.keys] transaction in
                let records = BanMaintenance(transaction)
                return try [
                    records.note(.note, of: ban.id, keys: keys), records.note(.liftNote, of: ban.id, keys: keys),
                    records.note(.note, of: other.id, keys: keys),
                ]
            }
            #expect(notes == ["found", "mistake", nil])
        }
    }

    @Test("Of an erased person a ban keeps what it needs, and that goes with it", arguments: StoreKind.shared)
    func erasure(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let ban = try Self.ban()
            let entry = Self.entry(ban, .user(tables.user))
            try await tables.write { [keys = tables.keys] transaction in
                try BanRepository(transaction).insert(ban)
                try BanRepository(transaction).insert(entry)
                try BanMaintenance(transaction).setNote("found", .note, of: ban.id, keys: keys)
                try BanMaintenance(transaction).erase([.user(tables.user)])
            }
            let (goes, note) = try await tables.read { [keys = tables.keys] transaction in
                let records = BanMaintenance(transaction)
                return try (records.goesWithBan(entry), records.note(.note, of: ban.id, keys: keys))
            }
            #expect(goes)
            #expect(note == nil)
            #expect(try await tables.count("ban_holds") == 1)
            _ = try await tables.write { try BanRepository($0).lift(ban.id, by: "admin y") }
            #expect(try await tables.count("ban_holds") == 0)
        }
    }

    @Test("An entry has its ban; a row that this program never writes is damaged", arguments: StoreKind.shared)
    func constraints(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (ban, unknown) = (try Self.ban(), try Self.ban())
            let (entry, orphan) = (Self.entry(ban, .user(tables.user)), Self.entry(unknown, .user(tables.user)))
            try await tables.write { transaction in
                try BanRepository(transaction).insert(ban)
                try BanRepository(transaction).insert(entry)
            }
            await #expect(throws: StoreError.constraint(kind: .foreignKey)) {
                try await tables.write { try BanRepository($0).insert(orphan) }
            }
            await #expect(throws: StoreError.constraint(kind: .check)) {
                try await tables.sql("UPDATE bans SET lifted_at = 1")
            }
            try await tables.sql("UPDATE ban_holds SET subject = $1", [.bytes([1])])
            await #expect(throws: DamagedRow.self) {
                try await tables.read { try BanRepository($0).entries(of: ban.id) }
            }
            try await tables.sql("UPDATE bans SET reason = 'NO REASON'")
            await #expect(throws: DamagedRow.self) { try await tables.read { try BanRepository($0).find(ban.id) } }
        }
    }
}
