import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Repositories

@Suite("Tables admins and admin_certificates")
struct AdministratorTableTests {
    private static func administrator(
        _ name: String, role: AdminRole = .support, account: String? = nil
    ) -> Administrator {
        Administrator(
            id: AdministratorID(UUID()), name: name, role: role, account: account, createdAt: TestTables.now,
            removedAt: nil)
    }

    private static func certificate(
        _ name: String, days: Double, from authority: String = "authority"
    ) -> AdministratorCertificate {
        AdministratorCertificate(
            thumbprint: Digest256.of(name), notAfter: TestTables.now.addingTimeInterval(days * 86_400),
            authority: Digest256.of(authority))
    }

    @Test("An administrator is found by id, name and account, also after the removal", arguments: StoreKind.shared)
    func administrators(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (lena, ben) = (Self.administrator("lena", account: "lm"), Self.administrator("ben", role: .auditor))
            try await tables.write { transaction in
                for one in [lena, ben] { try AdministratorRepository(transaction).save(one) }
            }
            let removed = Administrator(
                id: lena.id, name: "lena", role: .security, account: "lm", createdAt: TestTables.now + 1,
                removedAt: TestTables.now + 2)
            try await tables.write { try AdministratorRepository($0).save(removed) }
            try await tables.read { transaction in
                let records = AdministratorRepository(transaction)
                let all = try records.list()
                #expect(all == [ben, removed])
                #expect(try records.find(lena.id) == removed && records.find(name: "lena") == removed)
                #expect(try records.find(account: "lm") == removed && records.find(account: "ben") == nil)
                #expect(try records.find(name: "Lena") == nil)
            }
        }
    }

    @Test("A name and an account belong to one administrator", arguments: StoreKind.shared)
    func unique(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            try await tables.write { try AdministratorRepository($0).save(Self.administrator("lena", account: "lm")) }
            for other in [Self.administrator("lena"), Self.administrator("ben", account: "lm")] {
                await #expect(throws: (any Error).self) {
                    try await tables.write { try AdministratorRepository($0).save(other) }
                }
            }
        }
    }

    @Test(
        "A certificate is found until it is revoked, and revoking concerns one administrator",
        arguments: StoreKind.shared)
    func certificates(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let (lena, ben) = (Self.administrator("lena"), Self.administrator("ben"))
            let (first, second) = (Self.certificate("first", days: 1), Self.certificate("second", days: 2))
            let (expired, other) = (Self.certificate("expired", days: -1), Self.certificate("other", days: 3))
            try await tables.write { transaction in
                let records = AdministratorRepository(transaction)
                for one in [lena, ben] { try records.save(one) }
                for certificate in [first, second, expired] { try records.insert(certificate, of: lena.id) }
                try records.insert(other, of: ben.id)
            }
            try await tables.read { transaction in
                let records = AdministratorRepository(transaction)
                let found = try records.find(thumbprint: first.thumbprint)
                #expect(found?.administrator == lena && found?.notAfter == first.notAfter)
                #expect(try records.find(thumbprint: Digest256.of("none"))?.administrator == nil)
                let ends = try records.certificateEnds(at: TestTables.now)
                #expect(ends == [lena.id: second.notAfter, ben.id: other.notAfter])
                #expect(try records.revokedCertificates().isEmpty)
            }
            let counts = try await tables.write { transaction in
                try (0..<2).map { _ in
                    try AdministratorRepository(transaction).revokeCertificates(of: lena.id, at: TestTables.now)
                }
            }
            // The expired one was not valid.
            #expect(counts == [2, 0])
            try await tables.read { transaction in
                let records = AdministratorRepository(transaction)
                let revoked = try records.find(thumbprint: first.thumbprint)
                #expect(revoked?.administrator == nil)
                #expect(try records.find(thumbprint: other.thumbprint)?.administrator == ben)
                #expect(try records.revokedCertificates().count == 3)
            }
            // A restore revokes one certificate, once.
            let again = try await tables.write { transaction in
                let records = AdministratorRepository(transaction)
                return try [other.thumbprint, other.thumbprint, Digest256.of("none")].map {
                    try records.revokeCertificate($0, at: TestTables.now)
                }
            }
            #expect(again == [true, false, false])
        }
    }

    @Test(
        "Administrators with a valid certificate of an authority are named once, and no others",
        arguments: StoreKind.shared)
    func holders(kind: StoreKind) async throws {
        try await TestTables.run(kind) { tables in
            let people = ["nora", "lena", "ben", "eve"].map { Self.administrator($0) }
            try await tables.write { transaction in
                let records = AdministratorRepository(transaction)
                for one in people { try records.save(one) }
                try records.insert(Self.certificate("first", days: 1), of: people[0].id)
                try records.insert(Self.certificate("second", days: 2), of: people[0].id)
                try records.insert(Self.certificate("third", days: 1), of: people[1].id)
                try records.insert(Self.certificate("other", days: 1, from: "other"), of: people[2].id)
                try records.insert(Self.certificate("expired", days: -1), of: people[2].id)
                try records.insert(Self.certificate("revoked", days: 1), of: people[3].id)
                try records.revokeCertificates(of: people[3].id, at: TestTables.now)
            }
            let named = try await tables.read { transaction in
                try ["authority", "other", "none"].map {
                    try AdministratorRepository(transaction).holders(
                        ofCertificatesFrom: Digest256.of($0), at: TestTables.now)
                }
            }
            #expect(named == [["lena", "nora"], ["ben"], []])
        }
    }
}
