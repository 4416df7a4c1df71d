import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Tables sign_ins and sign_in_tallies")
struct SignInTableTests {
    private static func attempt(
        _ tables: TestTables, age: TimeInterval, session: SessionID? = nil, code: String? = nil
    ) -> SignInAttempt {
        SignInAttempt(
            id: SignInAttemptID(UUID()), at: TestTables.now.addingTimeInterval(-age), act: .open,
            providerID: tables.provider, userID: nil, sessionID: session, providerKeyID: tables.providerKey,
            applicationID: tables.application, deviceID: tables.device, code: code, reason: nil)
    }

    @Test(
        "Attempts of a user are read newest first, of a key oldest first, each written once",
        arguments: StoreKind.shared)
    func attempts(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let session = SessionID(UUID())
            // Two at one moment, so that only the id tells their order.
            let accepted = [20.0, 20, 10].map { Self.attempt(tables, age: $0, session: session) }
            let refused = Self.attempt(tables, age: 5, code: "user_banned")
            let unknown = Self.attempt(tables, age: 1, code: "invalid_identity_token")
            try await tables.write { transaction in
                let records = SignInRecordRepository(transaction)
                for attempt in accepted + [refused, refused] { try records.enqueueInsert(attempt, of: "ada") }
                try records.enqueueInsert(unknown, of: "nobody")
                try records.enqueueInsert(Self.attempt(tables, age: 0), of: nil)
            }
            let user = tables.user
            let (first, second) = try await tables.read { transaction in
                let records = SignInRecordRepository(transaction)
                let first = try records.list(of: user, after: .start, limit: 3)
                let last = try #require(first.last)
                let place = HistoryPlace(at: last.at, id: last.id.description)
                return (first, try records.list(of: user, after: place, limit: 3))
            }
            let order = (accepted + [refused]).sorted {
                ($0.at, $0.id.description) > ($1.at, $1.id.description)
            }
            #expect((first + second).map(\.id) == order.map(\.id))
            #expect(first.first?.code == "user_banned" && first.allSatisfy { $0.userID == user })
            let key = tables.providerKey
            let pages = try await tables.read { transaction in
                let records = SignInRecordRepository(transaction)
                let first = try records.accepted(by: key, after: nil, limit: 2)
                return (first, try records.accepted(by: key, after: first.last, limit: 2))
            }
            #expect((pages.0 + pages.1).map(\.id) == order.filter { $0.sessionID != nil }.reversed().map(\.id))
            let erased = try await tables.write { transaction in
                let records = SignInRecordRepository(transaction)
                return try (0..<3).map { _ in try records.erase(user, limit: 3) }
            }
            #expect(erased == [3, 1, 0])
            #expect(try await tables.count("sign_ins") == 2)
            let purged = try await tables.write {
                try SignInRecordRepository($0).purge(before: TestTables.now)
            }
            #expect(purged.rows == 1 && purged.isFinished)
        }
    }

    @Test("Rows of a user whose erasure is under way are hidden", arguments: StoreKind.shared)
    func hidden(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let user = tables.user
            try await tables.write { transaction in
                try SignInRecordRepository(transaction).enqueueInsert(Self.attempt(tables, age: 1), of: "ada")
                try ErasureRepository(transaction).begin(user, at: TestTables.now)
            }
            let found = try await tables.read {
                try SignInRecordRepository($0).list(of: user, after: .start, limit: 3)
            }
            #expect(found.isEmpty)
        }
    }

    @Test("Counts of an hour are added to one row", arguments: StoreKind.shared)
    func tallies(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (provider, hour) = (tables.provider, SignInAttempt.Tally.Hour(of: TestTables.now))
            try await tables.write { transaction in
                let records = SignInTallyRepository(transaction)
                for (owner, network) in [(provider, "a"), (provider, "a"), (provider, "b"), (nil, "a")] {
                    try records.enqueueAdd(
                        SignInAttempt.Tally(
                            hour: hour, providerID: owner, network: .of(network), accepted: 2, refused: 3))
                }
            }
            #expect(try await tables.count("sign_in_tallies") == 3)
            let counted = try await tables.read {
                try SignInTallyRepository($0).counted(of: provider, since: TestTables.now)
            }
            #expect(counted == (6, 9))
            let later = try await tables.read {
                try SignInTallyRepository($0).counted(of: provider, since: TestTables.now.addingTimeInterval(3600))
            }
            #expect(later == (0, 0))
            try await tables.write {
                try SignInTallyRepository($0).purge(before: TestTables.now.addingTimeInterval(1))
            }
            #expect(try await tables.count("sign_in_tallies") == 0)
        }
    }

    @Test("Times and devices of a user are told without a key", arguments: StoreKind.shared)
    func traces(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (user, other) = (tables.user, try await tables.newDevice())
            let sessions = [tables.session(1, age: 30), tables.session(2, on: other, age: 20)]
            try await tables.write { transaction in
                for session in sessions { try SessionRepository(transaction).insert(session, at: .first) }
                try SignInRecordRepository(transaction).enqueueInsert(
                    Self.attempt(tables, age: 10, session: sessions[0].id), of: "ada")
                try SignInRecordRepository(transaction).enqueueInsert(
                    Self.attempt(tables, age: 5, code: "user_banned"), of: "ada")
            }
            let (devices, since, use) = try await tables.read { transaction in
                let traces = UserTraceRepository(transaction, of: user)
                #expect(try traces.proofs() == nil && traces.verifications().isEmpty && traces.cards().isEmpty)
                #expect(try traces.erasedAt() == nil)
                return (
                    try traces.devices(since: nil), try traces.devices(since: sessions[1].createdAt),
                    try traces.lastUse()
                )
            }
            let moment = { TestTables.now.addingTimeInterval(-$0) }
            #expect(
                devices.elementsEqual(
                    [(tables.device, moment(30), moment(10)), (other, moment(20), moment(20))], by: ==))
            #expect(since.elementsEqual([(tables.device, moment(10), moment(10))], by: ==))
            #expect(use == moment(10))
        }
    }
}
