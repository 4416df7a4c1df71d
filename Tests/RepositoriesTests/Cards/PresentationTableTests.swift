import Database
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Domain
@testable import Repositories

@Suite("Table presentations")
struct PresentationTableTests {
    private static func entry(
        _ session: Session, age: TimeInterval = 0, request: Digest256? = nil
    ) -> PresentationRepository.Entry {
        let at = TestTables.now.addingTimeInterval(-age)
        return .init(
            presentation: Presentation(
                id: PresentationID(UUID()), userID: session.userID, deviceID: session.deviceID, sessionID: session.id,
                channel: request == nil ? .digitalCredentials : .sameDevice, wanted: .over18, state: .open,
                nonce: [UInt8](repeating: 1, count: 32), origin: "https://app.example",
                reason: nil, attempts: 0, createdAt: at, expiresAt: at.addingTimeInterval(300)),
            sealedKey: [1, 2], requestHash: request)
    }

    @Test("An entry is read as it was written, counted, and ended once", arguments: StoreKind.shared)
    func ending(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let session = tables.session(1)
            let (entry, old) = (Self.entry(session), Self.entry(session, age: 400))
            let id = entry.presentation.id
            try await tables.write { transaction in
                let records = PresentationRepository(transaction)
                for one in [entry, old] { try records.insert(one) }
                #expect(try records.find(id, of: session)?.presentation == entry.presentation)
                #expect(try records.expiriesOfOpen(of: session.userID) == [entry.presentation.expiresAt])
                #expect(try records.countAttempt(id, of: session)?.presentation.attempts == 1)
                #expect(try records.end(id, of: session, from: .open, .refused, reason: "revoked"))
                #expect(try !records.end(id, of: session, from: .open, .accepted, reason: nil))
                #expect(try !records.end(old.presentation.id, of: session, from: .open, .accepted, reason: nil))
                let ended = try records.find(id, of: session)
                #expect(ended?.sealedKey == nil && ended?.presentation.state == .refused)
                #expect(ended?.presentation.reason == "revoked")
                try records.purge(expiredBefore: TestTables.now)
                #expect(try records.find(old.presentation.id, of: session) == nil)
                #expect(try records.delete(id, of: session) && !records.delete(id, of: session))
            }
        }
    }

    @Test("An answer by redirect is kept once, and redeemed, refused or discarded", arguments: StoreKind.shared)
    func redirects(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let session = tables.session(1)
            let end = TestTables.now + 120
            let requests = (0..<4).map { Digest256.of("request \($0)") }
            let entries = requests.map { Self.entry(session, request: $0) }
            let ids = entries.map(\.presentation.id)
            let codes = (0..<4).map { Digest256.of("code \($0)") }
            try await tables.write { transaction in
                let records = PresentationRepository(transaction)
                for entry in entries { try records.insert(entry) }
                #expect(try records.find(request: requests[0])?.presentation == entries[0].presentation)
                #expect(try records.find(request: codes[0]) == nil && records.countAttempt(request: codes[0]) == nil)
                #expect(try records.countAttempt(request: requests[0])?.presentation.attempts == 1)
                for index in 0..<3 {
                    // The time of the last one has passed.
                    let until = index == 2 ? TestTables.now - 1 : end
                    #expect(try records.receive(ids[index], sealedResult: [3], code: codes[index], until: until))
                    #expect(try !records.receive(ids[index], sealedResult: [4], code: codes[3], until: end))
                }
                let received = try records.find(ids[0], of: session)
                #expect(received?.sealedKey == nil && received?.sealedResult == [3] && received?.codeHash == codes[0])
                #expect(received?.presentation.state == .received && received?.presentation.expiresAt == end)
                #expect(try !records.refuse(ids[0], reason: "revoked"))
                #expect(try records.refuse(ids[3], reason: "revoked") && !records.refuse(ids[3], reason: "revoked"))
                // Its own session discards nothing. Another presentation does.
                #expect(try !records.discard(code: codes[0], unlessOf: ids[0], of: session))
                #expect(try records.discard(code: codes[1], unlessOf: ids[0], of: session))
                #expect(try records.end(ids[0], of: session, from: .received, .accepted, reason: nil))
                #expect(try !records.end(ids[0], of: session, from: .received, .accepted, reason: nil))
                for index in 0..<2 {
                    let ended = try records.find(ids[index], of: session)
                    #expect(ended?.sealedResult == nil && ended?.codeHash == nil)
                    #expect(ended?.presentation.state == (index == 0 ? .accepted : .expired))
                }
                #expect(try records.find(ids[2], of: session)?.sealedResult == [3])
                try records.discardUnredeemed()
                let late = try records.find(ids[2], of: session)
                #expect(late?.sealedResult == nil && late?.presentation.state == .expired)
            }
        }
    }
}

@Suite("Table age_proofs")
struct AgeProofTableTests {
    @Test("A proof is added to the earlier one, sealed, and erased", arguments: StoreKind.shared)
    func adding(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let keys = try SealedStore.keys()
            try await tables.write { transaction in
                let records = AgeProofRepository(transaction, keys: keys)
                #expect(try records.find(tables.user) == nil)
                try records.add(.over18, of: tables.user, at: TestTables.now)
                #expect(try records.find(tables.user) == ProvenAges(.over18, at: TestTables.now))
                #expect(try AgeProofRepository.exists(tables.user, in: transaction))
                try records.add(.over21, of: tables.user, at: TestTables.now)
                #expect(try records.find(tables.user)?.proof == [.over18, .over21])
                try records.erase(tables.user)
                #expect(try !AgeProofRepository.exists(tables.user, in: transaction))
            }
        }
    }
}

@Suite("Table wallet_origins")
struct WalletOriginTableTests {
    @Test("An origin is added to an app once, listed and removed", arguments: StoreKind.shared)
    func origins(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let origin = try #require(WalletOrigin("https://app.example"))
            let app = Application(id: ApplicationID(UUID()), providerID: tables.provider, name: "App")
            let entry = AppOrigin(applicationID: app.id, origin: origin)
            try await tables.write { transaction in
                try ProviderRepository(transaction).insert(app, at: TestTables.now)
                let records = WalletOriginRepository(transaction)
                #expect(try records.insert(entry) && !records.insert(entry))
                #expect(try records.contains(entry) && records.list(of: app.id) == [entry])
                #expect(try records.all() == [entry])
                #expect(try records.remove(entry) && !records.remove(entry))
                #expect(try !records.contains(entry))
            }
        }
    }
}

@Suite("Table trust_lists")
struct TrustListTableTests {
    @Test("A list replaces an earlier one alone, and each fetch is noted", arguments: StoreKind.shared)
    func newest(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let date = TestTables.now - 3600
            try await tables.write { transaction in
                let records = TrustListRepository(transaction, at: "https://list.example/vical")
                #expect(try records.times() == nil && records.body() == nil)
                #expect(try records.store([1], date: date, nextUpdate: nil))
                #expect(try !records.store([2], date: date, nextUpdate: nil))
                #expect(try !records.store([2], date: date - 1, nextUpdate: nil))
                #expect(try records.body() == [1] && records.times()?.nextUpdate == nil)
                #expect(try records.store([3], date: date + 1, nextUpdate: date + 60))
                let times = try #require(try records.times())
                #expect(times.date == date + 1 && times.nextUpdate == date + 60 && times.fetchedAt == transaction.now)
                #expect(try records.body() == [3])
                // Another provider's list has its own date.
                let other = TrustListRepository(transaction, at: "https://other.example/vical")
                #expect(try other.times() == nil && other.store([4], date: date - 60, nextUpdate: nil))
                #expect(try other.body() == [4] && records.body() == [3])
            }
        }
    }
}
