import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("What a sign-in and an action are decided from")
struct SignInQuestionTests {
    private static func subject(
        _ tables: TestTables, _ externalID: String, certificate: Int = 1
    ) -> SignInRepository.Subject {
        .init(
            keyID: tables.providerKey, thumbprint: .of("certificate \(certificate)"), deviceID: tables.device,
            providerID: tables.provider, externalID: externalID)
    }

    @Test("One statement reads key, certificate, user and the open sessions", arguments: StoreKind.shared)
    func signIn(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let sessions = (1...4).map { tables.session($0) }
            try await tables.write { transaction in
                for session in sessions { try SessionRepository(transaction).insert(session, at: .first) }
                try SessionRepository(transaction).end(.session(sessions[0].id), at: TestTables.now, .byAdmin)
            }
            let (known, few, unknown) = try await tables.read {
                let records = SignInRepository($0)
                return try (
                    records.context(of: Self.subject(tables, "ada"), mostSessions: 8),
                    records.context(of: Self.subject(tables, "ada"), mostSessions: 2),
                    records.context(of: Self.subject(tables, "eve", certificate: 2), mostSessions: 8)
                )
            }
            #expect(known.mayKeyOpenSessions)
            #expect(known.certificate == tables.certificate(1))
            #expect(known.user == tables.person(tables.user, "ada"))
            #expect(!known.mayDeviceBeBanned && !known.mayUserBeBanned)
            #expect(known.openSessions == 3)
            #expect(few.openSessions == 2)
            #expect(unknown.certificate == nil)
            #expect(unknown.user == nil)
            #expect(unknown.openSessions == 0)
        }
    }

    @Test("One statement reads session, user and certificate of an action", arguments: StoreKind.shared)
    func action(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (session, forgotten) = (tables.session(1), tables.session(2))
            let found = try await tables.write { transaction in
                try SessionRepository(transaction).insert(session, at: .first)
                let records = HolderRepository(transaction)
                return try (records.holder(of: session), records.holder(of: forgotten))
            }
            #expect(found.0?.session == session)
            #expect(found.0?.user == tables.person(tables.user, "ada"))
            #expect(found.0?.certificate == tables.certificate(1))
            #expect(found.0?.mayDeviceBeBanned == false && found.0?.mayUserBeBanned == false)
            #expect(found.1 == nil)
        }
    }
}
