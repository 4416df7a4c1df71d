import Database
import Domain
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Lists of past sessions")
struct PastSessionTests {
    /// Six sessions, a minute apart, of which the first four ended, ten seconds apart.
    private static func plant(_ tables: TestTables) async throws -> [Session] {
        let sessions = (0..<6).map { tables.session($0, age: TimeInterval(600 - $0 * 60)) }
        try await tables.write { transaction in
            let records = SessionRepository(transaction)
            for session in sessions { try records.insert(session, at: .first) }
            for (index, session) in sessions.prefix(4).enumerated() {
                let time = TestTables.now.addingTimeInterval(TimeInterval(index * 10 - 100))
                try records.end(.session(session.id), at: time, index == 0 ? .byUser : .byAdmin)
            }
        }
        return sessions
    }

    @Test("name the latest end first, by key and provider too, with its reason", arguments: StoreKind.shared)
    func ended(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let sessions = try await Self.plant(tables)
            let order = sessions.prefix(4).reversed().map(\.id)
            let (provider, key) = (tables.provider, tables.providerKey)
            for signer in [SessionRepository.Signer.all, .provider(provider), .key(key)] {
                let (first, second) = try await tables.read { transaction in
                    let records = SessionRepository(transaction)
                    let first = try records.listEnded(limit: 3, of: signer)
                    return (first, try records.listEnded(limit: 3, after: first.last?.session.id, of: signer))
                }
                #expect((first + second).map(\.session.id) == order)
                #expect(second.first?.endReason == SessionEnding.byUser.text)
            }
            let since = TestTables.now.addingTimeInterval(-80)
            let late = try await tables.read {
                try SessionRepository($0).listEnded(limit: 9, of: .key(key), since: since)
            }
            #expect(late.map(\.session.id) == Array(order.prefix(2)))
            let others = try await tables.read {
                try SessionRepository($0).listEnded(limit: 9, of: .key(ProviderKeyID(UUID())))
            }
            #expect(others.isEmpty)
        }
    }

    @Test("name a user's sessions by their beginning, and none that only spent a nonce", arguments: StoreKind.shared)
    func ofUser(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let sessions = try await Self.plant(tables)
            let nonce = try tables.nonce(1)
            try await tables.write {
                try SessionRepository($0).enqueueEnded(Session(spending: nonce, of: sessions[0], at: $0.now))
            }
            let user = tables.user
            let (first, second, since) = try await tables.read { transaction in
                let records = SessionRepository(transaction)
                let first = try records.list(of: user, after: .start, since: nil, limit: 4)
                let last = try #require(first.last?.session)
                let place = HistoryPlace(at: last.createdAt, id: last.id.description)
                return (
                    first, try records.list(of: user, after: place, since: nil, limit: 4),
                    try records.list(of: user, after: .start, since: sessions[3].createdAt, limit: 4)
                )
            }
            #expect((first + second).map(\.session.id) == sessions.reversed().map(\.id))
            #expect(first.map { $0.endedAt != nil } == [false, false, true, true])
            #expect(since.map(\.session.id) == [sessions[5].id, sessions[4].id])
        }
    }

    @Test("name every session of a key once, open ones first", arguments: StoreKind.shared)
    func signed(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let sessions = try await Self.plant(tables)
            let key = tables.providerKey
            let found = try await tables.read { transaction in
                var (found, place, rounds) = ([SessionID](), SessionRepository.SignedPlace?.some(.start), 0)
                while let from = place, rounds < 20 {
                    let (page, next) = try SessionRepository(transaction).list(signedBy: key, after: from, limit: 2)
                    found += page.map(\.id)
                    place = next
                    rounds += 1
                }
                return found
            }
            #expect(found.count == 6 && Set(found) == Set(sessions.map(\.id)))
            #expect(Set(found.prefix(2)) == Set(sessions.suffix(2).map(\.id)))
        }
    }

    @Test("of open ones leave out those from before a time, whatever their ids", arguments: StoreKind.shared)
    func openSince(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            // An id begins with the expiry of the nonce, which is later than the session.
            let sessions = (1...4).map { number -> Session in
                let created = TestTables.now.addingTimeInterval(TimeInterval(-60 * number))
                let id = SessionID(Cell.ofTests.orderedID(at: created.addingTimeInterval(500), [UInt8(number)]))
                return tables.session(number, age: TimeInterval(60 * number), id: id)
            }
            try await tables.write { transaction in
                for session in sessions { try SessionRepository(transaction).insert(session, at: .first) }
            }
            let since = TestTables.now.addingTimeInterval(-120)
            let (found, all) = try await tables.read { transaction in
                let records = SessionRepository(transaction)
                return (try records.listOpen(limit: 9, since: since), try records.listOpen(limit: 9))
            }
            #expect(found.map(\.id) == sessions.prefix(2).map(\.id) && all.count == 4)
        }
    }
}
