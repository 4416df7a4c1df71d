import Database
import Domain
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Table presentations")
struct PresentationTableTests {
    private static func entry(_ session: Session, age: TimeInterval = 0) -> PresentationRepository.Entry {
        let at = TestTables.now.addingTimeInterval(-age)
        return .init(
            presentation: Presentation(
                id: PresentationID(UUID()), userID: session.userID, deviceID: session.deviceID, sessionID: session.id,
                wanted: .over18, state: .open, nonce: [UInt8](repeating: 1, count: 32), origin: "https://app.example",
                reason: nil, attempts: 0, createdAt: at, expiresAt: at.addingTimeInterval(300)),
            sealedKey: [1, 2])
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
                #expect(try records.end(id, of: session, .refused, reason: "revoked"))
                #expect(try !records.end(id, of: session, .accepted, reason: nil))
                #expect(try !records.end(old.presentation.id, of: session, .accepted, reason: nil))
                let ended = try records.find(id, of: session)
                #expect(ended?.sealedKey == nil && ended?.presentation.state == .refused)
                #expect(ended?.presentation.reason == "revoked")
                try records.purge(expiredBefore: TestTables.now)
                #expect(try records.find(old.presentation.id, of: session) == nil)
                #expect(try records.delete(id, of: session) && !records.delete(id, of: session))
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
