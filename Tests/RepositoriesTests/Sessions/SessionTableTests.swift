import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Table sessions")
struct SessionTableTests {
    @Test("A session is read as it was written, by its token and by its id", arguments: StoreKind.shared)
    func reading(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            var challenged = tables.session(2)
            (challenged.state, challenged.challengedAt) = (.challenged, TestTables.now.addingTimeInterval(1))
            for session in [tables.session(1, age: 60), challenged] {
                try await tables.write { try SessionRepository($0).insert(session, at: .first) }
                let found = try await tables.read {
                    (
                        try SessionRepository($0).find(session.id, tokenHash: session.tokenHash),
                        try SessionRepository($0).find(session.id)
                    )
                }
                #expect(found.0 == session)
                #expect(found.1 == session)
            }
            let unknown = try await tables.read { [id = challenged.id] transaction in
                (
                    try SessionRepository(transaction).find(id, tokenHash: .of("other")),
                    try SessionRepository(transaction).find(SessionID(UUID()))
                )
            }
            #expect(unknown.0 == nil && unknown.1 == nil)
        }
    }

    @Test("No two sessions share an id, and none is without its user", arguments: StoreKind.shared)
    func constraints(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let first = tables.session(1)
            let second = tables.session(2, id: first.id)
            try await tables.write { try SessionRepository($0).insert(first, at: .first) }
            await #expect(throws: StoreError.constraint(kind: .unique)) {
                try await tables.write { try SessionRepository($0).insert(second, at: .first) }
            }
            let orphan = tables.session(2, of: UserID(UUID()))
            await #expect(throws: StoreError.constraint(kind: .foreignKey)) {
                try await tables.write { try SessionRepository($0).insert(orphan, at: .first) }
            }
            await #expect(throws: StoreError.constraint(kind: .check)) {
                try await tables.sql("UPDATE sessions SET state = 'unauthenticated'")
            }
            #expect(try await tables.count("sessions") == 1)
        }
    }

    @Test("Ending ends what is in scope and open, and nothing else", arguments: StoreKind.shared)
    func ending(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let other = try await tables.newUser("eve")
            let device = try await tables.newDevice()
            let sessions = [
                tables.session(1), tables.session(2), tables.session(3, on: device), tables.session(4, of: other),
                tables.session(5, of: other, on: device),
            ]
            try await tables.write { transaction in
                for session in sessions { try SessionRepository(transaction).insert(session, at: .first) }
            }
            func end(_ scope: SessionScope) async throws -> Int {
                try await tables.write {
                    try SessionRepository($0).end(scope, at: TestTables.now, .byAdmin).count
                }
            }
            #expect(try await end(.session(sessions[0].id)) == 1)
            #expect(try await end(.session(sessions[0].id)) == 0)
            #expect(try await end(.user(tables.user)) == 2)
            #expect(try await end(.device(device)) == 1)
            let left = try await tables.read { try SessionRepository($0).listOpen(.user(other)).map(\.id) }
            #expect(left == [sessions[3].id])
            #expect(try await end(.user(other)) == 1)
            let ended = try await tables.read { try SessionRepository($0).find(sessions[3].id) }
            #expect(ended?.state == .unauthenticated)
        }
    }

    @Test("A session that is challenged is renewed once, under its old token alone", arguments: StoreKind.shared)
    func renewal(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let session = tables.session(1, age: 600)
            try await tables.write { try SessionRepository($0).insert(session, at: .first) }
            let later = TestTables.now.addingTimeInterval(1)
            let challenged = try await tables.write {
                try SessionRepository($0).challenge(.session(session.id), at: TestTables.now)
            }
            #expect(challenged == 1)
            var renewed = session
            renewed.tokenHash = .of("token 2")
            (renewed.renewedAt, renewed.lastUsedAt) = (later, later)
            let answers = try await tables.write { [renewed] transaction in
                let records = SessionRepository(transaction)
                return try (
                    records.renew(renewed, replacing: .of("wrong"), at: 0),
                    records.renew(renewed, replacing: session.tokenHash, at: 0),
                    records.renew(renewed, replacing: session.tokenHash, at: 0)
                )
            }
            #expect(answers == (false, true, false))
            #expect(try await tables.read { try SessionRepository($0).find(session.id) } == renewed)
        }
    }

    @Test("Use and certificate are written to sessions that are open", arguments: StoreKind.shared)
    func use(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (open, ended) = (tables.session(1, age: 60), tables.session(2, age: 60))
            try await tables.write { transaction in
                let records = SessionRepository(transaction)
                try records.insert(open, at: .first)
                try records.insert(ended, at: .first)
                try records.end(.session(ended.id), at: TestTables.now, .byAdmin)
                try records.recordUses([open, ended].map { Session.Use(id: $0.id, at: TestTables.now) })
                try records.rebind(deviceID: tables.device, to: .of("certificate 2"))
            }
            let found = try await tables.read {
                (try SessionRepository($0).find(open.id), try SessionRepository($0).find(ended.id))
            }
            #expect(found.0?.lastUsedAt == TestTables.now)
            #expect(found.0?.thumbprint == .of("certificate 2"))
            #expect(found.1?.lastUsedAt == ended.lastUsedAt)
            #expect(found.1?.thumbprint == ended.thumbprint)
        }
    }

    @Test("Uses are written many at once, and none takes back a later one", arguments: StoreKind.shared)
    func uses(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let sessions = (1...312).map { tables.session($0, age: 60) }
            let now = TestTables.now
            try await tables.write { transaction in
                for session in sessions { try SessionRepository(transaction).insert(session, at: .first) }
            }
            try await tables.write { transaction in
                let records = SessionRepository(transaction)
                try records.recordUses([])
                try records.recordUses(sessions.map { Session.Use(id: $0.id, at: now.addingTimeInterval(-30)) })
                try records.recordUses(sessions.prefix(11).map { Session.Use(id: $0.id, at: now) })
                try records.recordUses(
                    sessions.prefix(3).map { Session.Use(id: $0.id, at: now.addingTimeInterval(-1)) })
            }
            let found = try await tables.store.read { try SessionRepository($0).listOpen(limit: 2000) }
            #expect(found.count { $0.lastUsedAt == now } == 11)
            #expect(found.count { $0.lastUsedAt == now.addingTimeInterval(-30) } == 301)
        }
    }

    @Test("The newest open sessions come first, and no more than asked", arguments: StoreKind.shared)
    func listing(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            // Ids are in the order of time.
            let sessions = (1...5).map { tables.session($0, age: Double($0)) }
                .sorted { $0.id.description > $1.id.description }.enumerated().map { place, session in
                    tables.session(place + 1, age: Double(place + 1), id: session.id)
                }
            try await tables.write { transaction in
                for session in sessions { try SessionRepository(transaction).insert(session, at: .first) }
                try SessionRepository(transaction).end(.session(sessions[0].id), at: TestTables.now, .byAdmin)
            }
            let (newest, next, others) = try await tables.read {
                let records = SessionRepository($0)
                return try (
                    records.listOpen(limit: 3, of: .provider(tables.provider)),
                    records.listOpen(limit: 3, after: sessions[3].id, of: .provider(tables.provider)),
                    records.listOpen(limit: 3, of: .provider(ProviderID(UUID())))
                )
            }
            let (all, ofUser, devices) = try await tables.read {
                let records = SessionRepository($0)
                return try (
                    records.listOpen(limit: 3), records.listOpen(.user(tables.user)), records.devices(of: tables.user)
                )
            }
            #expect(newest.map(\.id) == sessions[1...3].map(\.id) && newest == all)
            #expect(next.map(\.id) == [sessions[4].id] && others.isEmpty)
            #expect(ofUser.map(\.id) == sessions[1...].reversed().map(\.id))
            #expect(devices == [tables.device])
        }
    }

    @Test("What ended, or no clock can keep alive, is purged", arguments: StoreKind.shared)
    func purge(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (ended, old, challenged, young) = (
                tables.session(1), tables.session(2, age: 1000), tables.session(3, age: 1000), tables.session(4)
            )
            try await tables.write { transaction in
                let records = SessionRepository(transaction)
                for session in [ended, old, challenged, young] { try records.insert(session, at: .first) }
                try records.end(
                    .session(ended.id), at: TestTables.now.addingTimeInterval(-500), .byAdmin)
                try records.challenge(.session(challenged.id), at: TestTables.now)
                try records.purgeEnded(before: TestTables.now.addingTimeInterval(-100))
                try records.purgeExpired(before: TestTables.now.addingTimeInterval(-100))
            }
            let left = try await tables.read { try SessionRepository($0).listOpen(limit: 10).map(\.id) }
            #expect(Set(left) == [challenged.id, young.id])
            #expect(try await tables.count("sessions") == 2)
        }
    }

    @Test("A row that this program never writes is damaged", arguments: StoreKind.shared)
    func damage(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let session = tables.session(1)
            try await tables.write { try SessionRepository($0).insert(session, at: .first) }
            for change in ["device_id = 'none'", "thumbprint = token_hash || token_hash", "application_id = 'x'"] {
                try await tables.sql("UPDATE sessions SET \(change)")
                await #expect(throws: DamagedRow.self, "\(change)") {
                    try await tables.read { try SessionRepository($0).find(session.id) }
                }
            }
        }
    }
}
